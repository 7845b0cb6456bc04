"""A redrive is killed at each of its calls: nothing is lost, and only what had an intent without an answer is doubled."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from operate.failing import fault_headers
from operate.killing import Killed, Process
from recoverable_local.testing import ServiceBusWorld, SqsWorld
from recoverable_operate.errors import Journal
from recoverable_operate.errors._journal import Doubts
from servers.queues import HEADERS

World = Any
COUNT = 25
QUEUES = ("bills", "orders")
ALL = {f"m{number}" for number in range(COUNT)}
HOUR = 3600


def sqs_world(*, fifo: str = "") -> World:
    """Return a world of SQS with failed messages of two queues."""
    world = SqsWorld(seed=1)
    for queue in QUEUES:
        world.create_queue(queue + fifo, dead_letter_queue="error" + fifo)
    for number in range(COUNT):
        group: Any = {"group_id": f"g{number % 3}", "deduplication_id": str(number)} if fifo else {}
        headers = json.dumps(fault_headers(QUEUES[number % 2] + fifo, id=f"m{number}"))
        world.send("error" + fifo, str(number), attributes={HEADERS: headers}, **group)
    return world


def service_bus_world() -> World:
    """Return a world of Service Bus with failed messages of two queues."""
    world = ServiceBusWorld()
    for queue in (*QUEUES, "error"):
        world.create_queue(queue)
    for number in range(COUNT):
        world.send("error", str(number), attributes=fault_headers(QUEUES[number % 2], id=f"m{number}"))
    return world


def run(world: World, error: str, process: Process, journal: Journal) -> Any:
    """Redrive in a process; gives the outcome, None when it was killed."""
    client, allow = world.client, {} if isinstance(world, SqsWorld) else {"allow": QUEUES}
    world.client = process.wrap(client)
    try:
        with suppress(Killed):
            return world.redrive(error, rate=0, journal=process.wrap(journal), **allow).outcome
    finally:
        world.client = client
    return None


def number_of_calls(new_world: Callable[[], World], error: str) -> int:
    """Return how many calls a redrive makes that nobody kills."""
    process = Process()
    assert run(new_world(), error, process, Journal(":memory:")).sent == COUNT
    return process.calls


def arrived(world: World, suffix: str = "") -> Counter[str]:
    """Return how often each message was sent back."""
    return Counter(each.id for queue in QUEUES for each in world.queue(queue + suffix))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("new_world", "suffix"),
    [(sqs_world, ""), (lambda: sqs_world(fifo=".fifo"), ".fifo"), (service_bus_world, "")],
    ids=["sqs", "fifo", "service-bus"],
)
def test_a_killed_run_loses_nothing_and_the_next_one_names_what_it_doubles(
    new_world: Callable[[], World], suffix: str, when: str
) -> None:
    error, wrong = "error" + suffix, []
    for at in range(1, number_of_calls(new_world, error) + 1):
        world, journal = new_world(), Journal(":memory:")
        run(world, error, Process(at, after=when == "after"), journal)
        world.run(for_=HOUR)  # what was hidden or locked comes back
        outcome = run(world, error, Process(), journal)
        copies = arrived(world, suffix)
        doubled = {name for name, count in copies.items() if count > 1}
        if copies.keys() != ALL or max(copies.values()) > 2 or doubled - set(outcome.doubled) or world.queue(error):
            wrong.append((at, ALL - copies.keys(), doubled, outcome))

    assert wrong == []


@pytest.mark.parametrize("new_world", [sqs_world, service_bus_world], ids=["sqs", "service-bus"])
def test_what_two_killed_runs_double_is_named_until_an_operator_was_shown_it(new_world: Callable[[], World]) -> None:
    calls, wrong, some = number_of_calls(new_world, "error"), [], set[str]()
    for at in range(1, calls + 1, 5):
        for then in range(1, calls + 1, 8):
            world, journal = new_world(), Journal(":memory:")
            for kill in (at, then):
                run(world, "error", Process(kill, after=True), journal)
                world.run(for_=HOUR)
            run(world, "error", Process(), journal)
            copies, doubts = arrived(world), journal.doubts(world.now)
            doubled = {name for name, count in copies.items() if count > 1}
            named = {each.message_id for each in (*doubts.unanswered, *doubts.sent_again)}
            some |= doubled
            if copies.keys() != ALL or doubled - named or world.queue("error"):
                wrong.append((at, then, ALL - copies.keys(), doubled - named))
            journal.note_shown(doubts)
            assert journal.doubts(world.now) == Doubts((), ())

    assert (wrong, bool(some)) == ([], True)


def test_some_kill_does_double() -> None:
    """Shows that the test above could see it: after a send whose answer is lost, the next run sends again."""
    world, journal = sqs_world(), Journal(":memory:")
    process, sends = Process(), []
    client = world.client

    class Dying:
        def __getattr__(self, name: str) -> Any:
            return getattr(client, name)

        def send_message_batch(self, **request: Any) -> Any:
            sends.append(client.send_message_batch(**request))
            raise Killed

    world.client = Dying()
    with suppress(Killed):
        world.redrive("error", rate=0, journal=journal)
    world.client = client
    world.run(for_=HOUR)

    outcome = world.redrive("error", rate=0, journal=journal).outcome

    copies = arrived(world)
    assert ({name for name, count in copies.items() if count == 2}, len(sends), process.calls) == (
        set(outcome.doubled), 1, 0
    )  # fmt: skip
    assert len(outcome.doubled) == 10
