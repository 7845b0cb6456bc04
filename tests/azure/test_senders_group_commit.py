"""Copies of many threads: those to one queue go out together, one queue waits for no other, and each thread gets the results of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from threading import Event
from typing import Any

import pytest
from azure.servicebus.exceptions import MessagingEntityNotFoundError, ServiceBusServerBusyError

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_messages
from builders import ERROR_QUEUE, QUEUE, Clock, recoverability, seconds
from recoverable import Message
from recoverable._service_bus.answers import UNTRIED
from recoverable._service_bus.senders import MAX_SENDERS, Broker, GroupCommit, Parcel
from recoverable._service_bus.wire import Copy
from recoverable.hosting import Environment


def copy(body: bytes = b"{}", to: str = QUEUE) -> Copy:
    """Return a copy."""
    return Copy("m-1", to, {"body": body, "application_properties": {}})


OTHER = "invoices"
MISSING = MessagingEntityNotFoundError(message="gone")
BUSY = ServiceBusServerBusyError(message="busy")
Send = Callable[..., list[Any]]


class Time:
    """A clock, and a sleep that moves it and notes for how long."""

    def __init__(self) -> None:
        self.now, self.slept = Clock(), list[float]()

    def sleep(self, length: float) -> None:
        """Let time pass."""
        self.slept.append(length)
        self.now.advance(seconds(length))

    def sender(self, broker: Broker) -> Send:
        """Return what sends in this time."""
        return partial(broker.send, environment=Environment(None, self.now, nullcontext, sleep=self.sleep))


class Refusing:
    """Refuses as many sends to each queue as there are errors for it, and counts them all.

    Args:
        errors: by queues.
    """

    def __init__(self, **errors: Sequence[Exception]) -> None:
        self.errors, self.asked = {queue: iter(each) for queue, each in errors.items()}, list[str]()

    def __call__(self, queue: str) -> Exception | None:
        """Return the next error."""
        self.asked.append(queue)
        return next(self.errors[queue], None) if queue in self.errors else None


def test_what_waits_while_another_thread_sends_goes_out_in_one_send() -> None:
    sending, over = Event(), Event()

    def first_takes_long(_: str) -> None:
        if not sending.is_set():
            sending.set()
            over.wait(60)

    client = RecordingClient(first_takes_long)
    broker = Broker(client.as_client())
    send = Time().sender(broker)
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(send, [copy()])
        assert sending.wait(60)
        others = [threads.submit(send, [copy()]) for _ in range(7)]
        while len(broker._entities[QUEUE]._commit._waiting) < 7:
            over.wait(0.001)
        over.set()
        outcomes = [each.result(60) for each in (first, *others)]

    assert (outcomes, [len(copies) for _, copies in client.calls]) == ([[None]] * 8, [1, 7])


def test_a_copy_for_which_nobody_waits_any_more_is_never_sent() -> None:
    sending, over = Event(), Event()

    def takes_long(_: str) -> None:
        sending.set()
        over.wait(60)

    client = RecordingClient(takes_long)
    send = Time().sender(Broker(client.as_client(), timeout=0))
    with ThreadPoolExecutor() as threads:
        first = threads.submit(send, [copy(b"first")])
        assert sending.wait(60)
        [late] = send([copy(b"late")])
        over.set()
        outcomes = first.result(60), send([copy(b"next")])

    sent = [b"".join(message.body) for _, message in client.sent]
    assert (outcomes, late and late.kind, sent) == (([None], [None]), "lost", [b"first", b"next"])


def test_a_batch_that_was_refused_is_sent_again_copy_by_copy() -> None:
    client = RecordingClient(largest=10_000)
    send = Time().sender(Broker(client.as_client()))
    copies = [copy(b"b" * 10_000), copy(), copy()]

    together = send(copies)
    alone = [send([each], alone=True)[0] for each in copies]

    assert [failure and failure.kind for failure in together] == ["limit", "untried", "untried"]
    assert [failure and failure.kind for failure in alone] == ["limit", None, None]


def test_one_that_cannot_be_encoded_leaves_the_batch_as_it_is() -> None:
    client = RecordingClient()
    broken: Any = {"a": object()}
    copies = [copy(), copy()._replace(fields={"body": b"{}", "application_properties": broken})]

    failures = Time().sender(Broker(client.as_client()))(copies)

    assert ([failure and failure.reason for failure in failures], len(client.sent)) == ([None, "TypeError"], 1)


@pytest.mark.parametrize("refused", [1, 2, 3])
def test_nothing_goes_ahead_of_a_batch_that_was_refused(refused: int) -> None:
    """Each batch takes two; what comes after a refusal waits, for it may be of the same session."""
    errors = iter([None] * (refused - 1) + [TimeoutError("away")])
    client = RecordingClient(lambda _: next(errors, None), largest=10_000)
    bodies = [b"%d" % number + b"b" * 4_000 for number in range(8)]

    failed = Time().sender(Broker(client.as_client()))([copy(body) for body in bodies])

    sent = [b"".join(message.body) for _, message in client.sent]
    assert (sent, [error is None for error in failed]) == (
        bodies[: 2 * refused - 2],
        [True] * (2 * refused - 2) + [False] * (10 - 2 * refused),
    )


def test_no_copies_are_no_call() -> None:
    client = RecordingClient()

    assert (Time().sender(Broker(client.as_client()))([]), client.calls) == ([], [])


def test_when_the_sending_thread_ends_nobody_takes_his_copy_for_sent() -> None:
    def ends(_: list[Parcel]) -> None:
        raise SystemExit

    waiting = GroupCommit(ends, 60)
    parcel = Parcel(copy(), [], alone=False)

    with pytest.raises(SystemExit):
        waiting.send([parcel])

    assert parcel.failure is UNTRIED


def test_a_queue_that_hangs_keeps_no_copy_to_another_waiting() -> None:
    hanging, over = Event(), Event()

    def hangs(queue: str) -> None:
        if queue == "misspelt":
            hanging.set()
            over.wait(60)

    client = RecordingClient(hangs)
    send = Time().sender(Broker(client.as_client()))
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(send, [copy(to="misspelt")])
        assert hanging.wait(60)
        good = [send([copy(to=OTHER)]) for _ in range(3)]
        over.set()
        first.result(60)

    assert (good, [queue for queue, _ in client.calls]) == ([[None]] * 3, [OTHER] * 3 + ["misspelt"])


@pytest.mark.parametrize("error", [MISSING, BUSY], ids=["missing", "busy"])
def test_a_queue_that_refuses_all_is_asked_again_after_two_seconds_and_takes_what_waited(error: Exception) -> None:
    time = Time()
    send = time.sender(Broker(RecordingClient(Refusing(orders=[error])).as_client()))

    refused, elsewhere, again = send([copy()]), send([copy(to=OTHER)]), send([copy()])

    assert ([each and each.error for each in refused + elsewhere + again], time.slept) == ([error, None, None], [2])


def test_what_waits_for_a_queue_that_is_missing_is_refused_by_one_answer() -> None:
    refusing = Refusing(orders=[MISSING])
    copies = [copy()._replace(fields={**copy().fields, "session_id": session}) for session in "abc"]

    failures = Time().sender(Broker(RecordingClient(refusing).as_client()))(copies)

    assert ([failure.kind for failure in failures], refusing.asked) == (["missing"] * 3, [QUEUE])


def test_messages_of_a_batch_that_send_to_a_missing_queue_ask_it_once() -> None:
    refusing = Refusing(invoices=[MISSING] * 9)
    client = RecordingClient(refusing)

    def bill(message: Message) -> None:
        message.send(OTHER, message.text)

    batch = trigger_messages(*({"body": b"%d" % number} for number in range(3)))
    failed = ended(endpoint(bill, recoverability(0, 0, error_queue=ERROR_QUEUE), client=client, batch=True), batch)

    assert (failed, refusing.asked, [queue for queue, _ in client.sent]) == (
        None,
        [OTHER, ERROR_QUEUE],
        [ERROR_QUEUE] * 3,
    )


def test_copies_of_a_batch_to_a_missing_error_queue_ask_it_once_and_then_go_to_their_own() -> None:
    refusing = Refusing(missing=[MISSING] * 9)
    client = RecordingClient(refusing)
    batch = trigger_messages(*({"body": b"%d" % number} for number in range(3)))

    failed = ended(endpoint(settings=recoverability(0, 0, error_queue="missing"), client=client, batch=True), batch)

    assert (failed, refusing.asked) == (None, ["missing", QUEUE, QUEUE, QUEUE])


def test_a_sender_that_is_in_use_is_not_closed_for_others() -> None:
    sending, over = Event(), Event()

    def takes_long(queue: str) -> None:
        if queue == QUEUE:
            sending.set()
            over.wait(60)

    client = RecordingClient(takes_long)
    send = Time().sender(Broker(client.as_client()))
    others = [f"error-{number:02}" for number in range(MAX_SENDERS)]
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(send, [copy()])
        assert sending.wait(60)
        for queue in others:
            send([copy(to=queue)])
        over.set()
        first.result(60)

    assert client.closed == others[:1]
