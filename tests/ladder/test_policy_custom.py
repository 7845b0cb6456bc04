"""Policies of a user's own: what they may do, and what becomes of a message when one raises or answers nonsense.

NServiceBus.AcceptanceTests, upstream → here, as far as the core decides them:

    CustomPolicyDoes1DelayedRetryThenSendsToError, When_custom_policy_executed   → test_it_sees_how_many_retries_the_message_has_had
    When_custom_policy_always_moves_to_error, ..._moves_to_overridden_error_queue → ANSWERS
    When_custom_policy_discards_message                                          → ANSWERS, and test_settlements.py
    When_custom_policy_provided                                                  → test_it_gets_the_settings
    When_configuring_unrecoverable_exception                                     → test_default_policy.py
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from builders import ERROR_QUEUE, NOW, QUEUE, Boom, decision, delivery, error_context, platform, recoverability, seconds
from recoverable import (
    Action,
    DelayedRetry,
    Discard,
    ErrorContext,
    ImmediateRetry,
    MoveToError,
    Policy,
    Recoverability,
    RetryAfter,
    default_policy,
)
from recoverable._ladder.decision import Decision
from recoverable._limits import MAX_DELAY

NEXT = "The next simpler policy decides for this message."

ANSWERS: dict[str, tuple[Action, str]] = {
    "at once": (ImmediateRetry(), ""),
    "later": (DelayedRetry(seconds(5)), ""),
    "to the error queue": (MoveToError(), ERROR_QUEUE),
    "to another error queue": (MoveToError("rejected"), "rejected"),
    "not at all": (Discard("out of date"), ""),
}


@pytest.mark.parametrize(("answer", "error_queue"), ANSWERS.values(), ids=ANSWERS)
def test_its_answer_is_what_is_done(answer: Action, error_queue: str) -> None:
    made = decision(settings=recoverability(policy=lambda settings, context: answer))

    assert (made.action, made.error_queue, made.warnings) == (answer, error_queue, ())


def test_it_gets_the_settings() -> None:
    asked: list[Recoverability] = []
    settings = recoverability(2, 2, time_increase=seconds(60), policy=remembering(asked, []))

    decision(settings=settings)

    assert asked == [settings]


def test_it_sees_how_many_retries_the_message_has_had() -> None:
    seen: list[ErrorContext] = []
    failure = Boom("it broke")
    retried = delivery(deliveries=2, prior_attempts=1, round=4)

    decision(failure, of=retried, settings=recoverability(policy=remembering([], seen)))

    assert seen == [
        ErrorContext(
            exception=failure,
            message=retried.message,
            immediate_processing_failures=3,
            delayed_deliveries_performed=4,
            receive_address=QUEUE,
            now=NOW,
            carried=retried.carried,
        )
    ]


def remembering(settings_seen: list[Recoverability], contexts_seen: list[ErrorContext]) -> Policy:
    """Return a policy that is the default one, and keeps the contexts that it was given."""

    def policy(settings: Recoverability, context: ErrorContext) -> Action:
        settings_seen.append(settings)
        contexts_seen.append(context)
        return default_policy(settings, context)

    return policy


def test_it_may_change_the_default_answer() -> None:
    def five_seconds(settings: Recoverability, context: ErrorContext) -> Action:
        action = default_policy(settings, context)
        return DelayedRetry(seconds(5)) if isinstance(action, DelayedRetry) else action

    settings = recoverability(1, policy=five_seconds)
    retried = [delivery(deliveries=1), delivery(deliveries=2)]

    assert [decision(of=each, settings=settings).action for each in retried] == [
        ImmediateRetry(),
        DelayedRetry(seconds(5)),
    ]


class Unshowable:
    """An answer that cannot be printed."""

    def __repr__(self) -> str:
        raise Boom


async def asynchronous(settings: Recoverability, context: ErrorContext) -> Action:
    """Return a coroutine, as no policy may; behind a lambda, only its answer shows it."""
    return ImmediateRetry()


NONSENSE: dict[str, tuple[Any, str]] = {
    "nothing": (lambda settings, context: None, "None"),
    "a text": (lambda settings, context: "retry", "'retry'"),
    "a class": (lambda settings, context: ImmediateRetry, repr(ImmediateRetry)),
    "a function": (lambda settings, context: len, "<built-in function len>"),
    "what cannot be shown": (lambda settings, context: Unshowable(), "a Unshowable"),
}


@pytest.mark.parametrize(("policy", "shown"), NONSENSE.values(), ids=NONSENSE)
def test_an_invalid_action_is_reported_and_the_default_policy_decides(policy: Policy, shown: str) -> None:
    made = decision(settings=recoverability(policy=policy))

    assert (made.action, made.warnings) == (
        ImmediateRetry(),
        (f"The recoverability policy returned {shown}, which is no action. {NEXT}",),
    )


def test_a_coroutine_is_an_invalid_action_too_and_causes_no_warning_of_python() -> None:
    made = decision(settings=recoverability(policy=lambda *asked: asynchronous(*asked)))  # type: ignore[arg-type]  # noqa: PLW0108  # hides that it is async

    assert made.action == ImmediateRetry()
    assert made.warnings[0].startswith("The recoverability policy returned <coroutine object asynchronous at 0x")


class Unspeakable(Exception):
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise Boom


def raising(error: BaseException) -> Any:
    """Return a function that raises, whatever it is given."""

    def function(*_: object) -> Any:
        raise error

    return function


RAISING: dict[str, tuple[Recoverability, str]] = {
    "a policy": (recoverability(policy=raising(ValueError("no"))), "The recoverability policy raised ValueError: no."),
    "a policy that delays by a negative time": (
        recoverability(policy=lambda settings, context: DelayedRetry(seconds(-1))),
        "The recoverability policy raised ValueError: DelayedRetry(delay) is -0:00:01; write a timedelta from 0 to 365 days, 0:00:00.",
    ),
    "a policy whose error has no text": (
        recoverability(policy=raising(Unspeakable())),
        f"The recoverability policy raised Unspeakable: Could not read Message from exception type '{__name__}.Unspeakable'..",
    ),
    "a predicate": (
        recoverability(unrecoverable=(raising(KeyError("code")),)),
        "A predicate or backoff raised KeyError: 'code'.",
    ),
}


@pytest.mark.parametrize(("settings", "said"), RAISING.values(), ids=RAISING)
def test_what_raises_is_reported_and_a_simpler_policy_decides(settings: Recoverability, said: str) -> None:
    made = decision(settings=settings)

    assert (made.action, made.warnings) == (ImmediateRetry(), (f"{said} {NEXT}",))
    assert list(made.raised) == [f"{said} {NEXT}"]


def test_a_raising_predicate_does_not_hide_the_unrecoverable_types() -> None:
    settings = recoverability(unrecoverable=(raising(KeyError("code")), Boom))

    assert decision(settings=settings).action == MoveToError(ERROR_QUEUE)


BACKOFFS = {
    "raises": raising(ZeroDivisionError("division by zero")),
    "gives nothing": lambda made: None,
    "gives a float": lambda made: 2.5,
    "gives a text": lambda made: "10 s",
}


@pytest.mark.parametrize("backoff", BACKOFFS.values(), ids=BACKOFFS)
def test_a_backoff_that_gives_no_delay_is_reported_and_replaced_by_the_time_increase(backoff: Any) -> None:
    made = decision(of=delivery(round=1), settings=recoverability(0, backoff=backoff))

    assert made.action == DelayedRetry(seconds(4))
    assert [warning.partition(" raised ")[0] for warning in made.warnings] == ["A predicate or backoff"]


def test_two_functions_that_raise_are_both_reported() -> None:
    settings = recoverability(policy=raising(ValueError("no")), unrecoverable=(raising(KeyError("code")),))

    made = decision(settings=settings)

    assert (made.action, made.warnings) == (
        ImmediateRetry(),
        (
            f"The recoverability policy raised ValueError: no. {NEXT}",
            f"A predicate or backoff raised KeyError: 'code'. {NEXT}",
        ),
    )


@pytest.mark.parametrize(
    ("delay", "waits"),
    [
        (7, seconds(7)),
        (0.5, seconds(0.5)),
        (seconds(7), seconds(7)),
        (-1, seconds(0)),
        (10**12, MAX_DELAY),
        (float("nan"), seconds(2)),
        (float("inf"), seconds(2)),
        ("soon", seconds(2)),
        (None, seconds(2)),
    ],
)
def test_a_retry_after_of_ones_own_may_say_its_delay_in_seconds_and_waits_as_configured_when_it_says_none(
    delay: Any, waits: timedelta
) -> None:
    class Busy(RetryAfter):
        def __init__(self) -> None:
            Exception.__init__(self, "busy")
            self.delay = delay

    made = decision(Busy())

    assert (made.action, made.warnings) == (DelayedRetry(waits), ())


def test_a_policy_that_moves_a_message_to_the_queue_it_came_from_is_replaced_by_the_default_policy() -> None:
    made = decision(settings=recoverability(policy=lambda settings, context: MoveToError(context.receive_address)))

    assert (made.action, made.warnings) == (
        ImmediateRetry(),
        (
            "The recoverability policy returned MoveToError(error_queue='orders'), which is the queue that the message came from. "
            "The next simpler policy decides for this message.",
        ),
    )


def test_a_policy_that_retries_for_ever_ends_after_a_thousand_delayed_retries() -> None:
    settings = recoverability(policy=lambda settings, context: DelayedRetry(seconds(1)))
    last, beyond = delivery(round=999), delivery(round=1_000)

    assert decision(of=last, settings=settings).action == DelayedRetry(seconds(1))
    assert decision(of=beyond, settings=settings).action == MoveToError()
    assert decision(of=beyond, settings=settings).warnings == (
        "Recoverability policy requested more than 1,000 delayed retries. Moving message to error queue instead.",
    )


def test_a_policy_that_retries_at_once_for_ever_ends_when_no_setting_could_grant_more() -> None:
    settings = recoverability(policy=lambda settings, context: ImmediateRetry())
    last, beyond = delivery(prior_attempts=993), delivery(prior_attempts=994)

    assert decision(of=last, settings=settings).action == ImmediateRetry()
    assert decision(of=beyond, settings=settings).action == MoveToError()
    assert decision(of=beyond, settings=settings).warnings == (
        "Recoverability policy requested more than 994 immediate retries. Moving message to error queue instead.",
    )


def test_an_interruption_in_a_policy_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        decision(settings=recoverability(policy=raising(KeyboardInterrupt())))


def test_a_decision_names_the_delivery_and_the_failure() -> None:
    failure, failed = Boom("it broke"), delivery()
    discarding = recoverability(policy=lambda settings, context: Discard("out of date"))

    made = decision(failure, of=failed, settings=discarding, on=platform())

    assert made == Decision(
        delivery=failed,
        event=failure,
        action=Discard("out of date"),
        outcome="discard",
        failure=failure,
        settlement=made.settlement,
    )


def test_the_error_context_cannot_be_changed() -> None:
    context = error_context()

    with pytest.raises(AttributeError):
        context.immediate_processing_failures = 0  # type: ignore[misc]  # on purpose
