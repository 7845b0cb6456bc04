"""Handlers that send, in virtual time: faults and deaths at each point lose nothing and make no ghost."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from builders import Boom
from local.testing.ladders import endpoint
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import (
    AnswerLost,
    Died,
    Fault,
    PartlyFailed,
    Refused,
    Slow,
    SqsWorld,
    Throttled,
    Unreachable,
)


def billing(failures: int = 0) -> Any:
    """Return a handler that sends, and fails so often."""
    attempts: list[int] = []

    def bill(message: Message) -> None:
        attempts.append(1)
        message.send("invoices", "invoice")
        if len(attempts) <= failures:
            raise Boom

    return bill


def world_of(handler: Any, **settings: Any) -> SqsWorld:
    """Return a world that serves the handler."""
    world = SqsWorld()
    world.create_queue("invoices")
    world.serve("orders", endpoint(handler=handler, **settings), timeout=30, recursive_loop="Allow")
    return world


CREDENTIALS = (
    "ExpiredToken", "RequestExpired", "SignatureDoesNotMatch", "InvalidClientTokenId", "UnrecognizedClientException",
)  # fmt: skip
NOT_NOW = {"throttled": Throttled(), **{code: Refused(code, status=403) for code in CREDENTIALS}}


@pytest.mark.parametrize("fault", NOT_NOW.values(), ids=NOT_NOW)
def test_a_handler_that_succeeded_is_charged_no_attempt_for_a_destination_that_takes_nothing_now(fault: Fault) -> None:
    world = world_of(billing(), immediate=0, delayed=0)
    world.fail("send_message_batch", fault, queue="invoices", during=timedelta(hours=2))
    world.send("orders", "hello")
    world.run()

    assert [each.body for each in world.queue("invoices")] == ["invoice"]
    assert (world.queue("orders"), world.queue("orders-error")) == ([], [])


def test_an_entry_that_stays_throttled_holds_up_its_own_message_and_no_neighbour() -> None:
    """The first call refuses the second of its three entries, and all repetitions of that one are refused."""
    runs: Counter[str] = Counter()

    def bill(message: Message) -> None:
        runs[message.text] += 1
        message.send("invoices", f"invoice for {message.text}")

    world = world_of(bill, immediate=0, delayed=0)
    world.fail("send_message_batch", PartlyFailed((1,)), queue="invoices", nth=1)
    for repetition in (2, 3, 4):
        world.fail("send_message_batch", Throttled(), queue="invoices", nth=repetition)
    for order in ("a", "b", "c"):
        world.send("orders", order)
    world.run()

    sent = sorted(each.body for each in world.queue("invoices"))
    assert (sent, runs) == (["invoice for a", "invoice for b", "invoice for c"], {"a": 1, "b": 2, "c": 1})


def test_all_queues_that_are_busy_share_the_two_seconds_of_pauses_of_an_invocation() -> None:
    world = world_of(lambda message: message.send(message.text, "invoice"), immediate=0, delayed=0)
    for queue in ("invoices", "bills"):
        world.fail("send_message_batch", Throttled(), queue=queue)
        world.send("orders", queue)
    world.run(for_=timedelta(seconds=10))

    refused = {event.at for event in world.timeline() if event.what == "call failed" and event.invocation == 1}
    assert sorted(refused) == [timedelta(seconds=each) for each in (0, 0.25, 0.75, 1.75, 2)]


FAULTS: dict[str, tuple[str, Fault]] = {
    "death when the handler runs": ("attempt", Died()),
    "death when it is sent": ("send_message_batch", Died()),
    "death when the invocation begins": ("invoke", Died()),
    "an answer that is lost": ("send_message_batch", AnswerLost()),
    "a broker that is away": ("send_message_batch", Unreachable()),
    "a throttled call": ("send_message_batch", Throttled()),
}


@pytest.mark.parametrize(("what", "fault"), FAULTS.values(), ids=FAULTS)
def test_one_fault_loses_nothing_and_whatever_is_sent_twice_has_one_id(what: str, fault: Fault) -> None:
    world = world_of(billing(), immediate=1, delayed=1)
    world.fail(what, fault, nth=1)
    world.send("orders", "hello")
    world.run()

    sent = world.queue("invoices")
    assert {each.body for each in sent} == {"invoice"}
    assert len({each.headers["NServiceBus.MessageId"] for each in sent}) == 1
    assert (world.queue("orders"), world.queue("orders-error")) == ([], [])


@pytest.mark.parametrize(("what", "fault"), FAULTS.values(), ids=FAULTS)
def test_one_fault_makes_no_ghost_of_what_failed_attempts_sent(what: str, fault: Fault) -> None:
    world = world_of(billing(failures=1000), immediate=1, delayed=1)
    world.fail(what, fault, nth=1)
    world.send("orders", "hello")
    world.run()

    assert world.queue("invoices") == []
    assert [each.body for each in world.queue("orders-error")] != []


def test_a_destination_that_refuses_for_good_ends_in_the_error_queue_and_sends_nothing() -> None:
    world = world_of(billing(), immediate=1, delayed=1)
    world.fail(
        "send_message_batch",
        Refused("AWS.SimpleQueueService.NonExistentQueue"),
        queue="invoices",
        during=timedelta(days=1),
    )
    world.send("orders", "hello")
    world.run()

    [failed] = world.queue("orders-error")
    assert failed.headers["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.OutgoingRefused"
    assert world.queue("invoices") == []


def test_what_was_sent_early_comes_twice_under_one_id_when_a_later_handler_ends_the_process() -> None:
    """Each sends so much that it leaves before the next one starts; the third kills the process at its first run."""

    def bill(message: Message) -> None:
        for number in range(400):
            message.send("invoices", f"{message.text}/{number}")

    world = world_of(bill, immediate=1, delayed=1)
    world.fail("attempt", Died(), nth=3)
    for order in ("a", "b", "c"):
        world.send("orders", order)
    world.run()

    sent = world.queue("invoices")
    wanted = {f"{order}/{number}" for order in ("a", "b", "c") for number in range(400)}
    assert ({each.body for each in sent}, len({each.headers["NServiceBus.MessageId"] for each in sent})) == (
        wanted,
        1200,
    )
    assert len(sent) > 1200  # those of the first two, again
    assert (world.queue("orders"), world.queue("orders-error")) == ([], [])


def bill_many(message: Message) -> None:
    """Send as many invoices as the order says; one that is no number fails."""
    for number in range(int(message.text)):
        message.send("invoices", f"{message.text}/{number}")


@pytest.mark.parametrize("end", ["", ".fifo"], ids=["a standard queue", "a FIFO queue"])
def test_a_handler_that_sends_more_than_there_is_time_for_fails_and_says_so(end: str) -> None:
    """A call takes four fifths of a second, and the function has 30."""
    world = SqsWorld()
    world.create_queue("invoices")
    settings = Recoverability(Immediate(1), Delayed(1), Failed(f"error{end}"))
    world.serve(f"orders{end}", SqsEndpoint(bill_many, settings), timeout=30, batch_size=1, recursive_loop="Allow")
    world.fail("send_message_batch", Slow(timedelta(seconds=0.8)), queue="invoices")
    group = {"group_id": "a", "deduplication_id": "1"} if end else {"group_id": None}
    world.send(f"orders{end}", "1000", **group)
    world.run()

    [failed] = world.queue(f"error{end}")
    assert "no time was left for 'invoices'" in str(failed.exception_message)
    assert ([event.what for event in world.timeline()].count("attempted"), failed.exception_type) == (
        4,
        "recoverable.OutgoingRefused",
    )


def test_what_a_handler_sends_leaves_time_to_settle_its_neighbours() -> None:
    world = world_of(bill_many, immediate=0, delayed=0)
    world.fail("send_message_batch", Slow(timedelta(seconds=0.8)), queue="invoices")
    for order in ("no number", "1", "1000"):
        world.send("orders", order)
    world.run()

    failed = {each.body: each.exception_type for each in world.queue("orders-error")}
    assert failed == {"no number": "ValueError", "1000": "recoverable.OutgoingRefused"}
    assert [each.body for each in world.queue("invoices") if each.body.startswith("1/")] == ["1/0"]


def test_a_slow_call_costs_no_attempt() -> None:
    """It takes all of the function's time, so that nothing more is sent in that invocation."""
    world = world_of(bill_many, immediate=0, delayed=0)
    world.fail("send_message_batch", Slow(timedelta(seconds=28)), queue="invoices", nth=1)
    world.send("orders", "30")
    world.run()

    assert (len({each.body for each in world.queue("invoices")}), world.queue("orders-error")) == (30, [])


def test_a_handler_that_is_too_slow_at_sending_for_a_day_fails() -> None:
    """A call takes four seconds: there is time for half of them."""
    world = world_of(bill_many, immediate=0, delayed=0)
    world.fail("send_message_batch", Slow(timedelta(seconds=4)), queue="invoices")
    world.send("orders", "120")
    world.run()

    assert [each.exception_type for each in world.queue("orders-error")] == ["recoverable.OutgoingRefused"]


KIB = 1024
LARGE = {
    "a topic that takes 1 MiB": (KIB * KIB, 900, ["a", "b", "c"], 0),
    "a topic with the default": (256 * KIB, 900, [], 1),
    "a topic that takes less": (2 * KIB, 1, ["a", "b", "c"], 0),
}


@pytest.mark.parametrize(("most", "size", "taken", "failed"), LARGE.values(), ids=LARGE)
def test_a_topics_own_answer_decides_how_large_a_message_may_be(
    most: int, size: int, taken: list[str], failed: int
) -> None:
    def announce(message: Message) -> None:
        for each in "abc":
            message.publish("events", each * size * KIB)

    world = world_of(announce, immediate=0, delayed=0)
    world.create_topic("events", max_size=most)
    world.send("orders", "hello")
    world.run()

    published = [seen.body[:1] for seen in world.topic("events")]
    reasons = [seen.exception_type for seen in world.queue("orders-error")]
    assert (sorted(published), reasons) == (taken, ["recoverable.OutgoingRefused"] * failed)


def test_an_answer_that_nobody_knows_is_not_repeated_any_more_once_it_has_lasted_too_long() -> None:
    world = world_of(billing(), immediate=0, delayed=0)
    world.fail("send_message_batch", Refused("SomethingNew", status=400), queue="invoices", during=timedelta(days=2))
    world.send("orders", "hello")
    world.run()

    calls = Counter(event.invocation for event in world.timeline() if event.what == "call failed")
    assert (calls.pop(11), set(calls.values())) == (1, {4})
    assert [copy.exception_type for copy in world.queue("orders-error")] == ["recoverable.OutgoingRefused"]
