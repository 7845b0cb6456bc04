"""What the platform cannot do becomes a move to the error queue after the policy, with a warning.

NServiceBus.Core.Tests/Recoverability/TransportCapabilityAdjustmentTests (2), upstream → here: both rows of NOT_AVAILABLE. Its start-up tests
(When_delayed_retries_enabled_with_no_support, When_transactions_off_...) throw where we, as NServiceBus 7 did and its docs say, show policies 0.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders import ERROR_QUEUE, decision, delivery, platform, recoverability, seconds
from recoverable import (
    Action,
    Delayed,
    DelayedRetry,
    Discard,
    ErrorContext,
    Immediate,
    ImmediateRetry,
    MoveToError,
    Recoverability,
    UnreportedFailure,
    default_policy,
)
from recoverable._ladder.decision import BEHIND_ITS_SESSION, FIRST_OF_NEXT_ROUND
from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable._ladder.settlement import Forward, Platform, Redeliver

INSTEAD = "Moving message to error queue instead."
NO_IMMEDIATE, NO_DELAYED = platform(immediate_retries=False), platform(delayed_retries=False)

NOT_AVAILABLE: dict[str, tuple[Action, Platform, str]] = {
    "immediate retries": (
        ImmediateRetry(),
        NO_IMMEDIATE,
        "Recoverability policy requested ImmediateRetry however immediate retries are not available with the current endpoint configuration.",
    ),
    "delayed retries": (
        DelayedRetry(seconds(1)),
        NO_DELAYED,
        "Recoverability policy requested DelayedRetry however delayed delivery capability is not available with the current endpoint configuration.",
    ),
}


@pytest.mark.parametrize(("asked", "on", "warning"), NOT_AVAILABLE.values(), ids=NOT_AVAILABLE)
def test_what_is_not_available_moves_to_the_default_error_queue(asked: Action, on: Platform, warning: str) -> None:
    made = decision(settings=recoverability(policy=lambda settings, context: asked), on=on)

    assert (made.action, made.error_queue, made.warnings) == (MoveToError(), ERROR_QUEUE, (f"{warning} {INSTEAD}",))


AVAILABLE: list[tuple[Action, Platform]] = [
    (ImmediateRetry(), NO_DELAYED),
    (DelayedRetry(seconds(1)), NO_IMMEDIATE),
    (MoveToError("elsewhere"), NO_DELAYED),
    (Discard("out of date"), NO_IMMEDIATE),
]


@pytest.mark.parametrize(("asked", "on"), AVAILABLE)
def test_what_is_available_stays(asked: Action, on: Platform) -> None:
    made = decision(settings=recoverability(policy=lambda settings, context: asked), on=on)

    assert (made.action, made.warnings) == (asked, ())


@pytest.mark.parametrize(
    ("on", "immediate", "delayed"),
    [
        (NO_IMMEDIATE, Immediate(0), Delayed(2, seconds(2))),
        (NO_DELAYED, Immediate(2), Delayed(0, seconds(0))),
        (platform(), Immediate(2), Delayed(2, seconds(2))),
    ],
    ids=["no immediate", "no delayed", "both"],
)
def test_policies_see_no_retries_that_cannot_be_made(on: Platform, immediate: Immediate, delayed: Delayed) -> None:
    seen: list[Recoverability] = []

    def policy(settings: Recoverability, context: ErrorContext) -> Action:
        seen.append(settings)
        return default_policy(settings, context)

    decision(settings=recoverability(policy=policy), on=on)

    assert [(settings.immediate, settings.delayed) for settings in seen] == [(immediate, delayed)]


def test_the_default_policy_needs_no_adjustment() -> None:
    without = [
        decision(of=delivery(deliveries=count), on=on) for on in (NO_IMMEDIATE, NO_DELAYED) for count in range(1, 5)
    ]

    assert [made.warnings for made in without] == [()] * 8


IN_PLACE = platform(redelivers_only=True)
FUNCTIONS = platform(shared_process=True)


@pytest.mark.parametrize("asked", [ImmediateRetry(), DelayedRetry(seconds(1))])
def test_a_message_beyond_its_ladder_in_place_is_not_retried_again(asked: Action) -> None:
    beyond = delivery(deliveries=3, round=2, unreported=True)
    settings = recoverability(policy=lambda settings, context: asked)

    made = decision(UnreportedFailure("silence"), of=beyond, settings=settings, on=IN_PLACE)

    assert (made.action, made.warnings) == (
        MoveToError(),
        (
            f"Recoverability policy requested a retry after the last attempt, where the order of messages is kept. {INSTEAD}",
        ),
    )


def test_beyond_its_ladder_in_place_the_default_policy_needs_no_adjustment() -> None:
    beyond = delivery(deliveries=3, round=2, unreported=True)

    made = decision(UnreportedFailure("silence"), of=beyond, on=IN_PLACE)

    assert (made.action, made.warnings) == (MoveToError(ERROR_QUEUE), ())


@pytest.mark.parametrize("asked", [ImmediateRetry(), DelayedRetry(seconds(1))])
def test_in_place_the_last_attempt_fails_with_its_own_reason_whatever_a_policy_grants(asked: Action) -> None:
    settings = recoverability(policy=lambda settings, context: asked)

    made = decision(of=delivery(deliveries=3, round=2), settings=settings, on=IN_PLACE)

    assert isinstance(made.settlement, Forward)
    assert (made.action, made.settlement.to, made.settlement.changes[EXCEPTION_MESSAGE]) == (
        MoveToError(),
        ERROR_QUEUE,
        "it broke",
    )


@pytest.mark.parametrize(
    ("deliveries", "round_", "made"),
    [
        (2, 0, ImmediateRetry()),
        (3, 0, DelayedRetry(seconds(2))),  # the configured delays are 2 s and 4 s
        (3, 1, DelayedRetry(seconds(4))),
    ],
)
def test_in_place_an_immediate_retry_after_the_last_of_a_round_is_the_first_of_the_next(
    deliveries: int, round_: int, made: Action
) -> None:
    settings = recoverability(policy=lambda settings, context: ImmediateRetry())

    decided = decision(of=delivery(deliveries=deliveries, round=round_), settings=settings, on=IN_PLACE)

    delay = made.delay if isinstance(made, DelayedRetry) else seconds(0)
    assert (decided.action, decided.settlement) == (made, Redeliver(delay))
    assert decided.warnings == ((FIRST_OF_NEXT_ROUND,) if deliveries == 3 else ())


@pytest.mark.parametrize(
    ("sessions", "in_process", "warnings"),
    [(True, False, (BEHIND_ITS_SESSION,)), (True, True, ()), (False, False, ())],
    ids=["a copy", "in process", "a session id on a queue without sessions"],
)
def test_a_granted_retry_that_lets_its_session_pass_is_warned_of(
    *, sessions: bool, in_process: bool, warnings: tuple[str, ...]
) -> None:
    settings = recoverability(policy=lambda settings, context: ImmediateRetry())
    settings = settings.replace(immediate=Immediate(2, in_process=in_process))

    on = platform(shared_process=True, sessions=sessions)
    made = decision(of=delivery(prior_attempts=2, group_id="s"), settings=settings, on=on)

    assert made.warnings == warnings


@pytest.mark.parametrize(
    ("asked", "round_", "granted"),
    [
        (1, 0, 2),  # the configured delays are 2 s and 4 s
        (3, 0, 3),
        (3, 1, 4),
        (1, 2, 1),  # no round follows, so no delay before it is configured
    ],
)
def test_in_place_a_policy_may_make_a_delay_longer_but_not_shorter(asked: float, round_: int, granted: float) -> None:
    settings = recoverability(delayed=2, policy=lambda settings, context: DelayedRetry(seconds(asked)))

    made = decision(of=delivery(round=round_), settings=settings, on=IN_PLACE)

    assert made.action == DelayedRetry(seconds(granted))


def test_in_place_a_backoff_that_raises_is_replaced_by_the_linear_delay() -> None:
    def broken(retries_made: int) -> timedelta:
        raise ZeroDivisionError

    settings = recoverability(delayed=2, backoff=broken, policy=lambda settings, context: DelayedRetry(seconds(1)))

    assert decision(settings=settings, on=IN_PLACE).action == DelayedRetry(seconds(2))


def test_in_place_an_immediate_retry_is_made_as_the_policy_says() -> None:
    settings = recoverability(policy=lambda settings, context: ImmediateRetry())

    assert decision(settings=settings, on=IN_PLACE).action == ImmediateRetry()
