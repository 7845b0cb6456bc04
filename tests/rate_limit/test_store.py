"""The circuit that an instance keeps for itself, held to the contract of all stores, and the calls of one instance to a shared store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, Lock
from typing import Any

import pytest

from rate_limit.circuit_contract import CircuitContract, NewStore
from recoverable._rate_limit.store import READ, THREADS, MemoryCircuit, SharedCalls


class TestMemoryCircuit(CircuitContract):
    """Its threads share one object."""

    ROUNDS = 1_000

    @pytest.fixture
    def new_store(self) -> Iterator[NewStore]:
        """Yield the one store, and let threads switch as often as possible."""
        store, interval = MemoryCircuit(), sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        yield lambda: store
        sys.setswitchinterval(interval)


INVOCATIONS = 16
"""`maxConcurrentCalls` of a small function, all in one process (Functions, host.json)."""

PLENTY, SOON = 30.0, 0.01
"""Seconds in which all is over, and those after which a caller gives up what cannot end yet."""


class Turnstile:
    """The lock of shared calls, which says when so many callers have passed it: each has then made a call, or shares one.

    Args:
        callers: how many.
    """

    def __init__(self, callers: int) -> None:
        self._lock, self._missing, self.passed = Lock(), callers, Event()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_error: object) -> None:
        self._missing -= 1
        if self._missing == 0:
            self.passed.set()
        self._lock.release()


class Server:
    """A store that answers when it is told to, and numbers its answers.

    Args:
        may_answer: is set when it may.
    """

    def __init__(self, may_answer: Event) -> None:
        self.asked, self.calls, self._may_answer = Event(), 0, may_answer

    def __call__(self) -> int:
        self.calls += 1
        self.asked.set()
        assert self._may_answer.wait(PLENTY)
        return self.calls


def all_at_once(call: Callable[[SharedCalls, Server], Any]) -> tuple[list[Any], int]:
    """Return the answers of sixteen invocations that call together, and the number of calls that the store got."""
    calls, turnstile = SharedCalls(), Turnstile(INVOCATIONS)
    gate: Any = turnstile
    calls._lock, server = gate, Server(turnstile.passed)
    with ThreadPoolExecutor(INVOCATIONS) as invocations:
        answers = [invocations.submit(call, calls, server) for _ in range(INVOCATIONS)]
        return sorted((each.result() for each in answers), key=str), server.calls


def hanging(calls: SharedCalls, end: Event, *, version: int | None) -> None:
    """Make a call that hangs: a read, or the change of a version."""
    call = calls.read if version is None else partial(calls.change, version)
    with pytest.raises(TimeoutError):
        call(SOON, lambda: end.wait(PLENTY))


def test_sixteen_that_read_at_once_share_one_answer() -> None:
    answers, asked = all_at_once(lambda calls, server: calls.read(PLENTY, server))

    assert (answers, asked) == ([1] * INVOCATIONS, 1)


def test_of_sixteen_that_change_one_version_at_once_one_is_heard() -> None:
    answers, asked = all_at_once(lambda calls, server: calls.change(7, PLENTY, server))

    assert (answers, asked) == ([1] + [None] * (INVOCATIONS - 1), 1)


def test_sixteen_share_an_error_too() -> None:
    def fail(calls: SharedCalls, server: Server) -> str:
        def refuse() -> None:
            server()
            raise ConnectionError("refused")

        with pytest.raises(ConnectionError, match="refused"):
            calls.change(7, PLENTY, refuse)
        return "told"

    assert all_at_once(fail) == (["told"] * INVOCATIONS, 1)


def test_a_call_that_hangs_is_not_made_again() -> None:
    calls, end, made = SharedCalls(), Event(), list[str]()
    hanging(calls, end, version=None)
    with pytest.raises(TimeoutError):
        calls.read(SOON, lambda: made.append("a second read"))
    end.set()

    assert made == []


def test_a_change_does_not_wait_for_a_read_that_hangs() -> None:
    calls, end = SharedCalls(), Event()
    hanging(calls, end, version=None)
    changed = calls.change(7, PLENTY, lambda: "changed")
    end.set()

    assert changed == "changed"


@pytest.mark.parametrize("outcome", ["answered", "lost"])
def test_who_reads_after_a_change_gets_no_answer_from_before_it(outcome: str) -> None:
    calls, end = SharedCalls(), Event()
    hanging(calls, end, version=None)
    if outcome == "answered":
        calls.change(7, PLENTY, lambda: "changed")
    else:
        hanging(calls, end, version=7)
    read = calls.read(PLENTY, lambda: "from after the change")
    end.set()

    assert read == "from after the change"


def test_a_call_that_had_not_begun_when_its_caller_gave_up_is_never_made() -> None:
    calls, end, made = SharedCalls(), Event(), list[str]()
    for version in range(THREADS):
        hanging(calls, end, version=version)
    with pytest.raises(TimeoutError):
        calls.change(THREADS, SOON, lambda: made.append("given up"))
    end.set()
    calls.read(PLENTY, lambda: made.append("the next one"))

    assert made == ["the next one"]


def test_a_read_that_comes_too_late_is_the_answer_of_the_next_that_does() -> None:
    calls, end, late = SharedCalls(), Event(), Event()

    def answers_late() -> str:
        end.wait(PLENTY)
        return "late"

    with pytest.raises(TimeoutError):
        calls.read(SOON, answers_late)
    future = calls._under_way[READ]
    end.set()
    assert future.result(PLENTY) == "late"
    again: Any = calls.read(SOON, lambda: late.wait(PLENTY))
    late.set()

    assert again == "late"


def test_an_answer_is_not_kept_for_those_who_come_later() -> None:
    calls, answers = SharedCalls(), iter("ab")

    assert [calls.read(PLENTY, lambda: next(answers)) for _ in "ab"] == ["a", "b"]
