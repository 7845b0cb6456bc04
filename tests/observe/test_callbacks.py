"""Callbacks: called with the facts and the message once it is settled, on both clouds, and without harm whatever they do.

NServiceBus.AcceptanceTests, upstream → here: When_subscribing_to_error_notifications (each event of the ladder, in order) →
test_the_callbacks_along_the_ladder; but an exception in a callback does not repeat what was already sent, as it does there.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest

from builders import ERROR_QUEUE, QUEUE, Boom
from observe.clouds import (
    Handler,
    World,
    both_kinds_of_handlers,
    climb,
    failing,
    failing_coroutine,
    observed,
    on_both_clouds,
    serve,
    settings,
)
from recoverable import Delayed, Discard, Facts, Failed, Immediate, Message, Recoverability
from recoverable.extensions import Observe
from recoverable.hosting import TimeUp
from recoverable_local.testing import Refused, ServiceBusWorld, SqsWorld, Unreachable

Row = tuple[str, int, int, timedelta | None, str, int | None]


class Book:
    """Writes down what callbacks are called with.

    Args:
        world: where the error queue is.
    """

    def __init__(self, world: World) -> None:
        self.rows: list[Row] = []
        self.facts: list[Facts] = []
        self.bodies: list[bytes] = []
        self._world = world

    def write(self, facts: Facts, message: Message) -> None:
        """Write a row: what was decided, and how many messages lie in each queue by now."""
        self.facts.append(facts)
        self.bodies.append(message.body)
        queued = None if facts.action == "immediate_retry" else len(self._world.queue(facts.error_queue or QUEUE))
        self.rows.append((facts.action, facts.attempt, facts.round, facts.delay, facts.error_queue, queued))

    async def write_later(self, facts: Facts, message: Message) -> None:
        """Write the row after a while."""
        await asyncio.sleep(0.1)
        self.write(facts, message)

    def observe(self, **more: Any) -> Observe:
        """Return settings with this book in all callbacks, by a plain function."""
        return Observe(
            **{
                "on_immediate_retry": self.write,
                "on_delayed_retry": self.write,
                "on_error": self.write,
                "on_discard": self.write,
                **more,
            }
        )


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was logged about observing."""
    return [record.getMessage() for record in caplog.records if record.name == "recoverable.observe"]


TEN = timedelta(seconds=10)
LADDER: list[Row] = [  # action, attempt, round, delay, error queue, messages in the queue that the message goes to
    ("immediate_retry", 1, 0, None, "", None),
    ("delayed_retry", 2, 0, TEN, "", 1),
    ("immediate_retry", 1, 1, None, "", None),
    ("move_to_error", 2, 1, None, ERROR_QUEUE, 1),
]


@on_both_clouds
@both_kinds_of_handlers
def test_the_callbacks_along_the_ladder(world: type[World], handler: Handler) -> None:
    here = world()
    book = Book(here)

    climb(here, handler, settings(book.observe()))

    expected = [row if row[0] != "delayed_retry" or world is SqsWorld else (*row[:5], 2) for row in LADDER]
    assert book.rows == expected  # on Functions the original is completed when the function returns
    assert book.bodies == [b"an order"] * 4


@on_both_clouds
@both_kinds_of_handlers
def test_coroutines_are_awaited_before_the_function_returns(world: type[World], handler: Handler) -> None:
    here = world()
    book = Book(here)
    later = book.write_later

    climb(here, handler, settings(book.observe(on_immediate_retry=later, on_delayed_retry=later, on_error=later)))

    assert [row[0] for row in book.rows] == [row[0] for row in LADDER]


tenant: ContextVar[str] = ContextVar("tenant", default="nobody")


@on_both_clouds
def test_a_plain_callback_sees_what_the_coroutine_that_failed_has_set_in_its_context(world: type[World]) -> None:
    seen: list[str] = []

    async def handle(message: Message) -> None:
        tenant.set(message.text)
        raise Boom

    here = world()
    serve(here, handle, settings(Observe(on_error=lambda *_: seen.append(tenant.get())), immediate=0, delayed=0))
    here.send(QUEUE, "north")
    here.send(QUEUE, "south")
    here.run()

    assert (sorted(seen), tenant.get()) == (["north", "south"], "nobody")


@on_both_clouds
def test_the_facts_name_the_exception_and_hold_it(world: type[World]) -> None:
    here = world()
    book = Book(here)

    message_id = climb(here, failing, settings(book.observe()))

    told = {(facts.message_id, facts.queue, facts.exception_type, str(facts.exception)) for facts in book.facts}
    assert told == {(message_id, QUEUE, "builders.Boom", "it broke")}


def test_on_lambda_the_facts_name_the_request(sqs_world: SqsWorld) -> None:
    book = Book(sqs_world)

    climb(sqs_world, failing, settings(book.observe()))

    assert [facts.request_id[-2:] for facts in book.facts] == ["01", "02", "03", "04"]


@on_both_clouds
def test_the_facts_say_how_long_the_handler_ran(world: type[World]) -> None:
    here = world()
    book = Book(here)

    def slow(message: Message) -> None:
        here.spend(2.5)
        raise Boom

    climb(here, slow, settings(book.observe(), immediate=0, delayed=0))

    assert [facts.handler_time for facts in book.facts] == [timedelta(seconds=2.5)]


def test_facts_do_not_print_the_exception() -> None:
    facts = Facts("m-1", QUEUE, 1, 0, "immediate_retry", exception=Boom("secret"))

    assert "secret" not in repr(facts)


@on_both_clouds
def test_a_discard_is_told(world: type[World]) -> None:
    here = world()
    book = Book(here)

    climb(here, failing, settings(book.observe(), policy=lambda settings, context: Discard("out of date")))

    assert [row[0] for row in book.rows] == ["discard"]


@on_both_clouds
@both_kinds_of_handlers
def test_what_could_not_be_sent_is_not_told(world: type[World], handler: Handler) -> None:
    here = world()
    book = Book(here)
    if world is SqsWorld:
        failed = here.fail("send_message_batch", Unreachable(), nth=1)
    else:
        failed = here.fail("send_messages", Refused("amqp:not-found"), nth=1)

    climb(here, handler, settings(book.observe(), immediate=0))

    assert failed.hits == 1
    assert [row[0] for row in book.rows] == ["delayed_retry", "move_to_error"]


RAISED = [ValueError("no"), SystemExit(1), KeyboardInterrupt(), TimeUp(), asyncio.CancelledError()]


@on_both_clouds
@both_kinds_of_handlers
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_what_a_callback_raises_is_logged_and_changes_nothing(
    world: type[World], handler: Handler, error: BaseException, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    def harmful(facts: Facts, message: Message) -> None:
        raise error

    async def harmful_later(facts: Facts, message: Message) -> None:
        raise error

    here, callback = world(), harmful if kind == "plain" else harmful_later
    message_id = climb(here, handler, settings(Observe(on_delayed_retry=callback, on_error=callback)))

    name_of_type = type(error).__name__
    assert [message.id for message in here.queue(ERROR_QUEUE)] == [message_id]
    assert lines(caplog) == [
        f"Calling {name} for message '{message_id}' failed ({name_of_type}). The message is settled all the same. Check the function in Observe({name})."
        for name in ("on_delayed_retry", "on_error")
    ]


@on_both_clouds
@both_kinds_of_handlers
def test_a_coroutine_is_cancelled_when_the_time_is_up(
    world: type[World], handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    ended = []

    async def endless(facts: Facts, message: Message) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(here.now - began)

    here = world()
    began = here.now
    climb(here, handler, settings(Observe(on_error=endless, callbacks_within=timedelta(seconds=3)), delayed=0))

    assert ended == [timedelta(seconds=3)]
    assert [line.partition(" failed ")[2][:8] for line in lines(caplog)] == ["(TimeUp)"]


def test_no_further_callback_is_called_when_the_time_is_up(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    called = []

    def slow(facts: Facts, message: Message) -> None:
        called.append(facts.message_id)
        sqs_world.spend(0.6)

    sqs_world.send(QUEUE, 1), sqs_world.send(QUEUE, 2), sqs_world.send(QUEUE, 3)
    climb(sqs_world, failing, settings(Observe(on_error=slow), immediate=0, delayed=0))

    assert (len(called), len(sqs_world.queue(ERROR_QUEUE))) == (2, 4)
    assert lines(caplog) == [
        "No time is left for 2 callbacks of this invocation. They are not called; their messages are settled. "
        "Raise Observe(callbacks_within), or do less in them."
    ]


def test_callbacks_leave_lambda_the_time_for_its_answer(sqs_world: SqsWorld) -> None:
    """Handlers may take all but the reserve, of which a callback gets what is left."""
    ended = []

    async def endless(facts: Facts, message: Message) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(sqs_world.now - began)

    began = sqs_world.now
    observe = Observe(on_error=endless, callbacks_within=timedelta(minutes=1))
    climb(sqs_world, failing, settings(observe, immediate=0, delayed=0))

    assert ended == [timedelta(seconds=29.8)]  # of 30


@both_kinds_of_handlers
def test_a_coroutine_runs_in_the_event_loop_of_the_handler(handler: Handler) -> None:
    """Clients that are bound to the loop serve both."""
    loops = []

    async def handle(message: Message) -> None:
        loops.append(asyncio.get_running_loop())
        raise Boom

    async def note(facts: Facts, message: Message) -> None:
        loops.append(asyncio.get_running_loop())

    for world in (SqsWorld(), ServiceBusWorld()):
        climb(world, handle, settings(Observe(on_error=note), immediate=0, delayed=0))

    assert loops[0] is loops[1]
    assert loops[2] is loops[3]


def test_a_batch_on_service_bus_is_told_message_by_message(service_bus_world: ServiceBusWorld) -> None:
    book = Book(service_bus_world)

    serve(service_bus_world, failing_coroutine, settings(book.observe(), delayed=0), batch=True)
    for number in range(3):
        service_bus_world.send(QUEUE, number)
    service_bus_world.run()

    assert sorted(row[:3] for row in book.rows) == [("immediate_retry", 1, 0)] * 3 + [("move_to_error", 2, 0)] * 3


@on_both_clouds
def test_a_message_whose_error_queue_refuses_it_is_told_when_it_gets_there(world: type[World]) -> None:
    """Its copy waits on its own queue first, which is no move to the error queue."""
    here = world()
    book = Book(here)
    if world is SqsWorld:
        here.fail("send_message_batch", Refused("InvalidMessageContents"), queue=ERROR_QUEUE, nth=1)
    else:
        here.fail("send_messages", Refused("amqp:not-found"), queue=ERROR_QUEUE, during=timedelta(seconds=1))

    climb(here, failing, settings(book.observe(), immediate=0, delayed=0))

    assert len(here.queue(ERROR_QUEUE)) == 1
    assert [(facts.action, facts.exception_type) for facts in book.facts] == [("move_to_error", "builders.Boom")]


@on_both_clouds
@both_kinds_of_handlers
def test_retries_in_process_are_told_one_by_one(world: type[World], handler: Handler) -> None:
    told: list[tuple[str, int, int]] = []
    tell = lambda facts, message: told.append((facts.action, facts.attempt, message.attempt))  # noqa: E731  # for both
    ladder = Recoverability(Immediate(2, in_process=True), Delayed(0), Failed(ERROR_QUEUE))

    climb(world(), handler, observed(ladder, Observe(on_immediate_retry=tell, on_error=tell)))

    assert told == [("immediate_retry", 1, 1), ("immediate_retry", 2, 2), ("move_to_error", 3, 3)]
