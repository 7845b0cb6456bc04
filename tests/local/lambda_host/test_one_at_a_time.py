"""Test that calls of an application that is not thread-safe are serialized."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError
from typing import Any

from deadlines import DEADLINE
from recoverable_local.lambda_host.services.one_at_a_time import OneAtATime

SEND, RECEIVE = "AmazonSQS.SendMessage", "AmazonSQS.ReceiveMessage"
SOON = 0.2  # seconds in which two threads meet that can


def meet(first: str, second: str, *, within: float) -> bool:
    """True if two calls are processed at the same time."""
    both = Barrier(2)

    def application(_environment: dict[str, Any], _start_response: Any) -> list[bytes]:
        try:
            both.wait(within)
        except BrokenBarrierError:
            return [b"alone"]
        return [b"together"]

    calls = OneAtATime(application)
    with ThreadPoolExecutor(2) as beside:
        answers = beside.map(lambda target: list(calls({"HTTP_X_AMZ_TARGET": target}, None)), (first, second))
        return set(answers_of(answers)) == {b"together"}


def answers_of(answers: Any) -> list[bytes]:
    """Return the parts of all answers."""
    return [part for answer in answers for part in answer]


def test_two_calls_never_meet() -> None:
    assert not meet(SEND, SEND, within=SOON)


def test_a_receive_that_waits_keeps_no_call_waiting() -> None:
    assert meet(RECEIVE, SEND, within=DEADLINE)
