"""Connections after a quiet time: one that was idle is renewed before it is used, and one that is reset once more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import pytest
from azure.servicebus.exceptions import (
    OperationTimeoutError,
    ServiceBusConnectionError,
    ServiceBusError,
    ServiceBusQuotaExceededError,
    ServiceBusServerBusyError,
)

from azure.recording import RecordingClient
from builders import QUEUE
from recoverable._service_bus.senders import Broker
from recoverable._service_bus.wire import Copy
from recoverable.hosting import Environment, now

ENVIRONMENT = Environment(None, now, nullcontext)
RESET = ServiceBusConnectionError(message="reset", condition="amqp:socket-error")
DETACHED = ServiceBusConnectionError(message="idle", condition="amqp:link:detach-forced")


class Outcome(NamedTuple):
    """What became of the last copy: the kind of its failure, how often it was sent, and the connections since the one before."""

    failure: str | None
    sends: int
    opened: int
    closed: int


class Sending:
    """A broker whose client answers as a test says, on a clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self._answers: Iterator[Exception | None] = iter(())
        self._sends = 0
        self._client = RecordingClient(self._answer)
        self._broker = Broker(self._client.as_client(), clock=lambda: self.now)

    def send(self, *answers: Exception | None, copies: int = 1) -> Outcome:
        """Send copies in one call; the namespace gives these answers, and then takes what comes."""
        self._answers, self._sends = iter(answers), 0
        opened, closed = len(self._client.senders), len(self._client.closed)
        failures = self._broker.send([copy(str(number)) for number in range(copies)], ENVIRONMENT)
        [kind] = {failure and failure.kind for failure in failures}
        return Outcome(kind, self._sends, len(self._client.senders) - opened, len(self._client.closed) - closed)

    @property
    def taken(self) -> list[Any]:
        """Return the ids of what was taken."""
        return [message.message_id for _, message in self._client.sent]

    def _answer(self, _: str) -> Exception | None:
        self._sends += 1
        return next(self._answers, None)


def copy(message_id: str) -> Copy:
    return Copy("m-1", QUEUE, {"body": b"{}", "message_id": message_id, "application_properties": {}})


@pytest.fixture
def sending() -> Sending:
    return Sending()


@pytest.mark.parametrize(("seconds", "opened"), [(0, 0), (60, 0), (61, 1), (600, 1), (1e9, 1), (-1, 1)])
@pytest.mark.parametrize("copies", [1, 3])
def test_a_connection_that_was_idle_for_more_than_a_minute_is_renewed(
    sending: Sending, seconds: float, opened: int, copies: int
) -> None:
    """And one whose clock went back, which says nothing of how long it was idle."""
    sending.send(copies=copies)

    sending.now += seconds

    assert sending.send(copies=copies) == Outcome(None, 1, opened, opened)


def test_a_connection_in_use_is_kept(sending: Sending) -> None:
    outcomes = []
    for _ in range(5):
        outcomes.append(sending.send())
        sending.now += 60

    assert outcomes == [Outcome(None, 1, 1, 0), *[Outcome(None, 1, 0, 0)] * 4]


@pytest.mark.parametrize("error", [RESET, DETACHED, ConnectionResetError(104, "reset")], ids=str)
@pytest.mark.parametrize("copies", [1, 3])
def test_a_reset_of_a_connection_that_had_carried_a_send_is_repeated_on_a_new_one(
    sending: Sending, error: Exception, copies: int
) -> None:
    sending.send(copies=copies)

    assert (sending.send(error, copies=copies), sending.taken) == (
        Outcome(None, 2, 1, 1),
        [str(number) for number in range(copies)] * 2,
    )


@pytest.mark.parametrize("copies", [1, 3])
def test_a_reset_of_a_new_connection_is_an_unknown_answer(sending: Sending, copies: int) -> None:
    assert (sending.send(RESET, copies=copies), sending.taken) == (Outcome("lost", 1, 1, 1), [])


def test_a_reset_of_a_connection_that_was_just_renewed_is_an_unknown_answer(sending: Sending) -> None:
    sending.send()
    sending.now += 61

    assert sending.send(RESET) == Outcome("lost", 1, 1, 2)


def test_a_namespace_that_resets_every_connection_gets_a_copy_twice_at_most(sending: Sending) -> None:
    sending.send()

    first = sending.send(*[RESET] * 10)
    others = [sending.send(*[RESET] * 10) for _ in range(3)]

    assert (first, others) == (Outcome("lost", 2, 1, 2), [Outcome("lost", 1, 1, 1)] * 3)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OperationTimeoutError(message="no answer"), "lost"),
        (TimeoutError("no answer"), "lost"),
        (ServiceBusError("no answer", condition="com.microsoft:timeout"), "lost"),
        (ServiceBusError("what?"), "unknown"),
    ],
    ids=str,
)
def test_any_other_lost_answer_stays_one_and_ends_the_connection(sending: Sending, error: Exception, kind: str) -> None:
    sending.send()

    assert (sending.send(error), sending.send()) == (Outcome(kind, 1, 0, 1), Outcome(None, 1, 1, 0))


@pytest.mark.parametrize(
    "error", [ServiceBusQuotaExceededError(message="full"), ServiceBusServerBusyError(message="busy")]
)
def test_a_refusal_keeps_the_connection(sending: Sending, error: Exception) -> None:
    sending.send()

    assert (sending.send(error).closed, sending.send()) == (0, Outcome(None, 1, 0, 0))
