"""Copies of many threads: they go out together, and each thread is told what came of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from azure.recording import RecordingClient
from builders import QUEUE
from recoverable._service_bus.answers import UNTRIED
from recoverable._service_bus.senders import Broker, GroupCommit, Parcel
from recoverable._service_bus.wire import Copy


def copy(body: bytes = b"{}", to: str = QUEUE) -> Copy:
    """Return a copy."""
    return Copy("m-1", to, {"body": body, "application_properties": {}})


def test_what_waits_while_another_thread_sends_goes_out_in_one_send() -> None:
    sending, over = Event(), Event()

    def first_takes_long(_: str) -> None:
        if not sending.is_set():
            sending.set()
            over.wait(60)

    client = RecordingClient(first_takes_long)
    broker = Broker(client.as_client())
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(broker.send, [copy()])
        assert sending.wait(60)
        others = [threads.submit(broker.send, [copy()]) for _ in range(7)]
        while len(broker._waiting._waiting) < 7:
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
    broker = Broker(client.as_client(), timeout=0)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(broker.send, [copy(b"first")])
        assert sending.wait(60)
        [late] = broker.send([copy(b"late")])
        over.set()
        outcomes = first.result(60), broker.send([copy(b"next")])

    sent = [b"".join(message.body) for _, message in client.sent]
    assert (outcomes, late and late.kind, sent) == (([None], [None]), "lost", [b"first", b"next"])


def test_a_batch_that_was_refused_is_sent_again_copy_by_copy() -> None:
    client = RecordingClient(largest=10_000)
    broker = Broker(client.as_client())
    copies = [copy(b"b" * 10_000), copy(), copy()]

    together = broker.send(copies)
    alone = [broker.send([each], alone=True)[0] for each in copies]

    assert [failure and failure.kind for failure in together] == ["limit", "untried", "untried"]
    assert [failure and failure.kind for failure in alone] == ["limit", None, None]


def test_one_that_cannot_be_encoded_leaves_the_batch_as_it_is() -> None:
    client = RecordingClient()
    broken: Any = {"a": object()}
    copies = [copy(), copy()._replace(fields={"body": b"{}", "application_properties": broken})]

    failures = Broker(client.as_client()).send(copies)

    assert ([failure and failure.reason for failure in failures], len(client.sent)) == ([None, "TypeError"], 1)


@pytest.mark.parametrize("refused", [1, 2, 3])
def test_nothing_goes_ahead_of_a_batch_that_was_refused(refused: int) -> None:
    """Each batch takes two; what comes after a refusal waits, for it may be of the same session."""
    errors = iter([None] * (refused - 1) + [TimeoutError("away")])
    client = RecordingClient(lambda _: next(errors, None), largest=10_000)
    bodies = [b"%d" % number + b"b" * 4_000 for number in range(8)]

    failed = Broker(client.as_client()).send([copy(body) for body in bodies])

    sent = [b"".join(message.body) for _, message in client.sent]
    assert (sent, [error is None for error in failed]) == (
        bodies[: 2 * refused - 2],
        [True] * (2 * refused - 2) + [False] * (10 - 2 * refused),
    )


def test_no_copies_are_no_call() -> None:
    client = RecordingClient()

    assert (Broker(client.as_client()).send([]), client.calls) == ([], [])


def test_when_the_sending_thread_ends_nobody_takes_his_copy_for_sent() -> None:
    def ends(_: list[Parcel]) -> None:
        raise SystemExit

    waiting = GroupCommit(ends, 60)
    parcels: list[Parcel] = []

    with pytest.raises(SystemExit):
        waiting.send([copy()])

    assert Parcel(copy(), parcels, alone=False).failure is UNTRIED
