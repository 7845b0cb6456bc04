"""One message through receipt, handler and recovery, where time is what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from datetime import timedelta
from typing import Any

import pytest

from builders import NOW, NOW_WRITTEN, QUEUE, Boom, delivery, platform, recoverability, seconds, written
from flow.invocations import Handler, Rung, Silent, attempt, invocation, logged
from recoverable import HandlerTimeout, Message, UnreportedFailure
from recoverable._flow.invocation import Invocation
from recoverable._flow.settle import NO_OUTCOME, settle_on_receipt
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import COMPLETE, Forward, Platform, Redeliver, Settlement
from recoverable.headers import DUE_AT, HELD_SINCE, MESSAGE_ID, PRIOR_ATTEMPTS, REPORTED, STOPPED

AT_ONCE = Redeliver(seconds(0))
HANDED_BACK = Forward(
    QUEUE, seconds(0), {MESSAGE_ID: "m-1", PRIOR_ATTEMPTS: None, HELD_SINCE: NOW_WRITTEN, REPORTED: None, DUE_AT: None}
)
STOPPED_FOR_OTHERS = Forward(QUEUE, seconds(0), {**HANDED_BACK.changes, STOPPED: "1"})
"""As above, and marked: it comes first next time."""
HEADER = platform("header")


def attempted(
    handler: Handler, of: Delivery | None = None, within: Invocation | None = None
) -> tuple[Settlement, list[str]]:
    """The settlement, and the ids of the messages that the handler got."""
    return attempt(handler, of or delivery(), within or invocation()), handler.handled


def test_a_handled_message_is_complete() -> None:
    assert attempted(Handler()) == (COMPLETE, ["m-1"])


def test_a_failed_message_is_recovered() -> None:
    assert attempted(Handler(Boom())) == (AT_ONCE, ["m-1"])


class Unusual(BaseException):
    """No `Exception`."""


FAILURES = [
    ValueError("no"), StopIteration(), MemoryError(), RecursionError(), ExceptionGroup("several", [Boom()]),
    Unusual(), GeneratorExit(), asyncio.CancelledError(), BaseExceptionGroup("several", [Unusual()]),
]  # fmt: skip
INTERRUPTIONS = [KeyboardInterrupt(), SystemExit(3)]


@pytest.mark.parametrize("error", FAILURES, ids=repr)
def test_whatever_a_handler_raises_is_a_failed_attempt(error: BaseException) -> None:
    running = invocation()

    assert attempted(Handler(error), within=running)[0] == AT_ONCE
    assert running.interruption is None


@pytest.mark.parametrize("error", INTERRUPTIONS, ids=repr)
def test_an_interruption_is_a_failed_attempt_that_is_kept(error: BaseException) -> None:
    running = invocation()

    assert attempted(Handler(error), within=running)[0] == AT_ONCE
    assert running.interruption is error


def test_after_an_interruption_nothing_runs() -> None:
    running = invocation()
    attempt(Handler(KeyboardInterrupt()), delivery(), running)

    assert attempted(Handler(), within=running) == (HANDED_BACK, [])


NOT_YET_DUE = {
    "a moment": timedelta(microseconds=1),
    "an hour": timedelta(hours=1),
    "the longest delay": timedelta(days=365),
}


@pytest.mark.parametrize("wait", NOT_YET_DUE.values(), ids=NOT_YET_DUE)
def test_a_copy_that_is_not_yet_due_hops_on(wait: timedelta) -> None:
    settlement, handled = attempted(Handler(), delivery(due_at=NOW + wait))

    expected = Forward(QUEUE, min(wait, timedelta(minutes=15)), {MESSAGE_ID: "m-1", DUE_AT: written(NOW + wait)})
    assert (settlement, handled) == (expected, [])


DUE = {"now": timedelta(0), "a while ago": -timedelta(hours=1), "absurdly late": timedelta(days=365, microseconds=1)}


@pytest.mark.parametrize("wait", DUE.values(), ids=DUE)
def test_a_copy_that_is_due_runs(wait: timedelta) -> None:
    assert attempted(Handler(), delivery(due_at=NOW + wait)) == (COMPLETE, ["m-1"])


WORDLESS: dict[str, tuple[Platform, dict[str, Any], str]] = {
    # the builders' ladder has two immediate and two delayed retries
    "native": (platform(), {"deliveries": 6}, "delayed_retry"),
    "native, on the last round": (platform(), {"deliveries": 6, "round": 2}, "move_to_error"),
    "header, attempts left": (HEADER, {"deliveries": 4, "prior_attempts": 1}, "immediate_retry"),
    "header, none left": (HEADER, {"deliveries": 4, "prior_attempts": 2}, "delayed_retry"),
    "in place": (platform(redelivers_only=True), {"deliveries": 3, "round": 2}, "move_to_error"),
}


@pytest.mark.parametrize(("on", "parts", "logger"), WORDLESS.values(), ids=WORDLESS)
def test_deliveries_without_a_word_climb_the_ladder(
    on: Platform, parts: dict[str, Any], logger: str, caplog: pytest.LogCaptureFixture
) -> None:
    handler = Handler()
    caplog.set_level("INFO", logger="recoverable")

    attempt(handler, delivery(unreported=True, **parts), invocation(on=on))

    silence = UnreportedFailure(NO_OUTCOME)
    assert handler.handled == []
    assert logged(caplog) == [(logger, repr(silence))]


def test_what_is_not_yet_due_is_not_asked_about_its_deliveries() -> None:
    held = delivery(due_at=NOW + seconds(5), unreported=True, deliveries=9)

    settlement, _ = attempted(Handler(), held, invocation(left=0))

    assert settlement == Forward(QUEUE, seconds(5), {MESSAGE_ID: "m-1", DUE_AT: written(NOW + seconds(5))})


def test_what_is_not_yet_due_runs_when_it_may_not_be_deferred() -> None:
    held = delivery(due_at=NOW + seconds(5))

    assert settle_on_receipt(held, invocation(left=9.0), may_defer=False) is None


def test_what_ended_without_a_word_is_asked_about_before_the_time_is() -> None:
    silent = delivery(unreported=True, deliveries=6, round=2)

    settlement, _ = attempted(Handler(), silent, invocation(left=0))

    assert isinstance(settlement, Forward)
    assert settlement.to == "orders-error"


@pytest.mark.parametrize("left", [0.0, -1.0])
def test_without_time_a_message_is_handed_back(left: float) -> None:
    assert attempted(Handler(), within=invocation(left=left)) == (HANDED_BACK, [])


def test_with_a_little_time_it_runs() -> None:
    assert attempted(Handler(), within=invocation(left=0.001, deadline=Silent)) == (COMPLETE, ["m-1"])


LIMITS: dict[str, tuple[float | None, timedelta | None, float]] = {
    "the invocation's time": (9.0, None, 9.0),
    "its own, which is shorter": (9.0, seconds(2), 2.0),
    "its own, which is as long": (9.0, seconds(9), 9.0),
    "its own, which is longer": (9.0, seconds(20), 9.0),
    "its own alone": (None, seconds(2), 2.0),
}


@pytest.mark.parametrize(("left", "own", "given"), LIMITS.values(), ids=LIMITS)
def test_a_handler_gets_the_shorter_of_its_times(left: float | None, own: timedelta | None, given: float) -> None:
    assert invocation(left=left, handler_timeout=own, deadline=Rung).deadline.seconds_left() == given


def test_without_any_limit_no_alarm_is_set() -> None:
    assert attempted(Handler(), within=invocation(deadline=Rung)) == (COMPLETE, ["m-1"])


def test_who_had_the_invocation_from_its_start_has_failed() -> None:
    assert attempt(Handler(), delivery(), invocation(left=9.0, deadline=Rung)) == AT_ONCE


def test_a_handler_that_is_stopped_has_timed_out(caplog: pytest.LogCaptureFixture) -> None:
    attempt(Handler(), delivery(), invocation(recoverability(0), left=9.0, deadline=Rung))

    assert logged(caplog) == [("delayed_retry", repr(HandlerTimeout("stopped after 9.0 seconds")))]


def after_another(running: Invocation) -> Invocation:
    """The invocation after it has handled a message."""
    attempt(Handler(), delivery(), running)
    return running


def test_who_came_later_is_handed_back() -> None:
    running = after_another(invocation(left=9.0, deadline=Rung))

    assert attempt(Handler(), delivery(), running) == STOPPED_FOR_OTHERS


@pytest.mark.parametrize("own", [2, 9])
def test_who_came_later_but_had_its_own_time_has_failed(own: int) -> None:
    running = after_another(invocation(left=9.0, handler_timeout=seconds(own), deadline=Rung))

    assert attempt(Handler(), delivery(), running) == AT_ONCE


def test_who_came_later_and_had_less_than_its_own_time_is_handed_back() -> None:
    running = after_another(invocation(left=9.0, handler_timeout=seconds(20), deadline=Rung))

    assert attempt(Handler(), delivery(), running) == STOPPED_FOR_OTHERS


def test_what_never_started_leaves_the_next_one_the_whole_invocation() -> None:
    running = invocation(left=9.0, deadline=Rung)
    attempt(Handler(), delivery(due_at=NOW + seconds(5)), running)

    assert attempt(Handler(), delivery(), running) == AT_ONCE


def test_a_coroutine_that_a_plain_function_gives_is_run_to_its_end() -> None:
    steps: list[str] = []

    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        steps.append(message.id)

    assert attempt(lambda message: handle(message), delivery(), invocation()) == COMPLETE  # noqa: PLW0108  # a plain function
    assert steps == ["m-1"]


def test_what_that_coroutine_raises_is_a_failed_attempt() -> None:
    async def handle(message: Message) -> None:
        raise Boom

    assert attempt(lambda message: handle(message), delivery(), invocation()) == AT_ONCE  # noqa: PLW0108  # a plain function


def test_anything_that_can_be_awaited_is_awaited() -> None:
    class Awaitable:
        def __await__(self) -> Generator[None, None, None]:
            yield
            raise Boom

    assert attempt(lambda message: Awaitable(), delivery(), invocation()) == AT_ONCE


@pytest.mark.parametrize("result", [None, "done", {"batchItemFailures": []}, False])
def test_what_a_handler_returns_means_nothing(result: object) -> None:
    assert attempt(lambda message: result, delivery(), invocation()) == COMPLETE


def test_the_traceback_in_the_log_begins_in_the_handler(caplog: pytest.LogCaptureFixture) -> None:
    def place_order(message: Message) -> None:
        raise Boom

    attempt(place_order, delivery(), invocation(recoverability(0)))

    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[2] is not None
    assert record.exc_info[2].tb_frame.f_code is place_order.__code__
