"""Handlers on Service Bus whose time is limited: a coroutine is cancelled, a plain one is left behind in its thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextvars import ContextVar
from itertools import pairwise
from threading import Event, Thread, local
from types import SimpleNamespace
from typing import Any

import pytest

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_message, trigger_messages
from builders import ERROR_QUEUE, NOW, QUEUE, recoverability, seconds
from deadlines import DEADLINE
from recoverable import HandlerTimeout, Immediate, Message, RateLimit
from recoverable._ladder.faults import EXCEPTION_TYPE
from recoverable._service_bus.wire import in_milliseconds
from recoverable.azure._threads import MOST_LEFT_BEHIND
from recoverable.headers import DELAYED_RETRIES, PRIOR_ATTEMPTS
from recoverable_local.testing import ServiceBusWorld

SHORT, LONG = seconds(0.01), seconds(60)
"""Seconds after which a test fails that waits for a thread."""


class Hanging:
    """A plain handler that waits until it is released, and then sends."""

    def __init__(self) -> None:
        self.release, self.ended, self.late = Event(), Event(), list[str]()
        self.started = 0

    def __call__(self, message: Message) -> None:
        """Wait, and send."""
        self.started += 1
        self.release.wait(DEADLINE)
        try:
            message.send("invoices", "too late")
        except RuntimeError as error:
            self.late.append(str(error))
        self.ended.set()


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    """Return a handler that hangs until the test has ended."""
    made = Hanging()
    yield made
    made.release.set()
    assert made.ended.wait(DEADLINE)


def copies(client: RecordingClient) -> list[tuple[str, object, object]]:
    """Return the queue, the carried attempts and the time of each copy."""
    return [(to, properties(copy).get(PRIOR_ATTEMPTS), copy.scheduled_enqueue_time_utc) for to, copy in client.sent]


@pytest.mark.parametrize(("deliveries", "carried"), [(1, "1"), (2, "2")])
def test_a_plain_handler_is_left_behind_and_its_retry_is_a_copy_that_carries_the_count(
    hanging: Hanging, deliveries: int, carried: str
) -> None:
    client = RecordingClient()

    ended(endpoint(hanging, client=client, handler_timeout=SHORT), trigger_message(DeliveryCount=deliveries))

    assert copies(client) == [(QUEUE, carried, in_milliseconds(NOW + SHORT))]


def test_its_retry_in_process_is_a_copy_too(hanging: Hanging) -> None:
    client, settings = RecordingClient(), recoverability().replace(immediate=Immediate(2, in_process=True))

    ended(endpoint(hanging, settings, client=client, handler_timeout=SHORT), trigger_message())

    assert (hanging.started, copies(client)) == (1, [(QUEUE, "1", in_milliseconds(NOW + SHORT))])


def test_its_delayed_retry_waits_as_long_as_the_ladder_says(hanging: Hanging) -> None:
    client = RecordingClient()

    ended(endpoint(hanging, recoverability(0, 1), client=client, handler_timeout=SHORT), trigger_message())

    [(_, copy)] = client.sent
    assert (properties(copy)[DELAYED_RETRIES], copy.scheduled_enqueue_time_utc) == (
        "1",
        in_milliseconds(NOW + seconds(2)),
    )


def test_at_the_end_of_its_ladder_it_is_given_up_with_its_reason(hanging: Hanging) -> None:
    client = RecordingClient()
    settings = recoverability(0, 0, error_queue=ERROR_QUEUE)

    ended(endpoint(hanging, settings, client=client, handler_timeout=SHORT), trigger_message())

    assert [(to, properties(copy)[EXCEPTION_TYPE]) for to, copy in client.sent] == [
        (ERROR_QUEUE, "recoverable.HandlerTimeout")
    ]


def test_what_it_sends_late_raises(hanging: Hanging) -> None:
    client = RecordingClient()

    ended(endpoint(hanging, client=client, handler_timeout=SHORT), trigger_message())
    hanging.release.set()

    assert hanging.ended.wait(DEADLINE)
    assert [to for to, _ in client.sent] == [QUEUE]
    assert "has ended" in hanging.late[0]


def test_the_log_names_the_message_and_what_to_do(hanging: Hanging, caplog: pytest.LogCaptureFixture) -> None:
    ended(endpoint(hanging, client=RecordingClient(), handler_timeout=SHORT), trigger_message())

    [line] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert line.getMessage() == (
        "A handler for message 'm-1' from 'orders' has not ended after 0.01 s, and cannot be stopped. Its thread is left behind, and "
        "its message is retried by a copy. Give the calls in the handler time-outs of their own."
    )


def test_a_process_leaves_four_threads_behind_and_then_an_attempt_waits() -> None:
    left, fifth, returned = [Hanging() for _ in range(MOST_LEFT_BEHIND)], Hanging(), Event()
    for each in left:
        ended(endpoint(each, client=RecordingClient(), handler_timeout=SHORT), trigger_message())

    def attempt() -> None:
        ended(endpoint(fifth, client=RecordingClient(), handler_timeout=SHORT), trigger_message())
        returned.set()

    thread = Thread(target=attempt)
    thread.start()
    waits = not returned.wait(0.2)
    left[0].release.set()
    thread.join(DEADLINE)
    for each in (*left, fifth):
        each.release.set()

    assert (waits, returned.is_set(), fifth.ended.wait(DEADLINE)) == (True, True, True)


def test_the_context_goes_along_and_the_worker_knows_whose_log_lines_these_are() -> None:
    tenant, seen, storage = ContextVar[str]("tenant"), list[object](), local()

    def note(message: Message) -> None:
        seen.extend([tenant.get(), storage.invocation_id])

    tenant.set("north")
    context: Any = SimpleNamespace(invocation_id="i-1", thread_local_storage=storage)
    endpoint(note, client=RecordingClient(), handler_timeout=LONG)(trigger_message(), context)

    assert (seen, hasattr(storage, "invocation_id")) == (["north", "i-1"], False)


def test_what_a_handler_raises_and_what_it_sends_in_time_is_as_without_a_limit() -> None:
    client = RecordingClient()

    def bill(message: Message) -> None:
        message.send("invoices", message.text)

    assert ended(endpoint(bill, client=client, handler_timeout=LONG), trigger_message(b"order 1")) is None
    assert [to for to, _ in client.sent] == ["invoices"]
    assert str(ended(endpoint(client=client, handler_timeout=LONG), trigger_message())) == "it broke"


def test_a_coroutine_is_cancelled() -> None:
    seen = list[str]()

    async def hang(message: Message) -> None:
        try:
            await asyncio.sleep(DEADLINE)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    error = ended(endpoint(hang, client=RecordingClient(), handler_timeout=SHORT), trigger_message())

    assert (type(error), seen) == (HandlerTimeout, ["cancelled"])


def test_in_a_batch_the_others_go_on(hanging: Hanging) -> None:
    client, handled = RecordingClient(), list[str]()

    def handle(message: Message) -> None:
        handled.append(message.text)
        if message.text == "hangs":
            hanging(message)

    batch = trigger_messages({"body": b"hangs"}, {"body": b"good"})
    ended(endpoint(handle, client=client, batch=True, handler_timeout=SHORT), batch)

    assert (handled, copies(client)) == (["hangs", "good"], [(QUEUE, "1", in_milliseconds(NOW + SHORT))])


def test_a_plain_handler_of_ordered_sessions_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cannot stop a plain handler, .*; write a coroutine, or time-outs"):
        endpoint(sessions="ordered", handler_timeout=SHORT)


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^ServiceBusEndpoint\(handler_timeout\) is 0; write how long a handler may run"
    ):
        endpoint(handler_timeout=seconds(0))


def test_in_a_session_it_is_not_attempted_again_beside_itself_while_the_rate_is_limited(
    service_bus_world: ServiceBusWorld,
) -> None:
    attempts = list[float]()

    def hang(_: Message) -> None:
        attempts.append((service_bus_world.now - start).total_seconds())
        service_bus_world.hang(45)

    start, settings = service_bus_world.now, recoverability().replace(rate_limit=RateLimit(1, max_hold=seconds(200)))
    served = endpoint(hang, settings, clock=None, handler_timeout=seconds(30), sessions=True)
    service_bus_world.serve(QUEUE, served)
    service_bus_world.send(QUEUE, "order 1", group_id="customer-7")
    service_bus_world.run()

    assert min(later - earlier for earlier, later in pairwise(attempts)) >= 30 + 30


def test_the_world_stops_waiting_for_a_handler_that_hangs(service_bus_world: ServiceBusWorld) -> None:
    def hang(message: Message) -> None:
        service_bus_world.hang(500)

    settings = recoverability(1, 0, error_queue=ERROR_QUEUE)
    served = endpoint(hang, settings, clock=None, handler_timeout=seconds(20))
    service_bus_world.send(QUEUE, "order 1")
    service_bus_world.serve(QUEUE, served, timeout=60)
    service_bus_world.run()

    [given_up] = service_bus_world.queue(ERROR_QUEUE)
    assert (given_up.headers[EXCEPTION_TYPE], given_up.headers["Recoverable.Attempts"]) == (
        "recoverable.HandlerTimeout",
        "2",
    )
