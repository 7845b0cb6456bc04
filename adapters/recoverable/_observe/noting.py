"""Make the facts about a decision. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from recoverable._errors import UnreportedFailure
from recoverable._ladder.actions import DelayedRetry, Discard, ImmediateRetry, MoveToError
from recoverable._ladder.decision import RATE_LIMITED
from recoverable._ladder.delivery import Deferral, Delivery
from recoverable._ladder.faults import EXCEPTION_TYPE, type_name
from recoverable._ladder.settlement import Forward, Redeliver, Settlement
from recoverable._observe.facts import Facts

if TYPE_CHECKING:
    from recoverable._ladder.decision import Decision

UNDECIDED = Redeliver(None)
"""The settlement of a message about which nothing could be decided."""


def facts_of(decision: Decision, **common: Any) -> Facts:
    """Return the facts about a decision.

    Args:
        decision: the decision.
        common: the handler's time and the request's id.
    """
    if isinstance(decision.event, Deferral):
        return facts_of_deferral(decision.delivery, decision.event, **common)
    raised = described(decision.event)
    match decision.action:
        case ImmediateRetry():
            return facts(decision.delivery, "immediate_retry", **raised, **common)
        case DelayedRetry(delay):
            return facts(decision.delivery, "delayed_retry", delay=delay, **raised, **common)
        case MoveToError():
            return facts(decision.delivery, "move_to_error", error_queue=decision.error_queue, **raised, **common)
        case Discard() | None:
            return facts(decision.delivery, "discard", **raised, **common)
        case _:
            assert_never(decision.action)


def facts_of_deferral(delivery: Delivery, deferral: Deferral, **common: Any) -> Facts:
    """Return the facts about a wait that counts as no attempt."""
    raised = described(deferral.failure) if deferral.failure is not None else {}
    limited = deferral.reason == RATE_LIMITED
    return facts(delivery, "deferral", delay=deferral.delay, rate_limited=limited, **raised, **common)


def facts_of_undecided(delivery: Delivery, **common: Any) -> Facts:
    """Return the facts about a failure about which nothing could be decided; its exception may raise when it is read."""
    return facts(delivery, "undecided", **common)


def facts_of_given_up(
    delivery: Delivery, settlement: Settlement, exception: BaseException | None, **common: Any
) -> Facts:
    """Return the facts about a message that moves to the error queue because another copy was refused, now or earlier."""
    queue = settlement.to if isinstance(settlement, Forward) else ""
    earlier = {"exception_type": delivery.message.headers.get(EXCEPTION_TYPE, "")}
    raised = earlier if exception is None else described(exception)
    return facts(delivery, "move_to_error", error_queue=queue, **raised, **common)


def facts_of_success(delivery: Delivery, **common: Any) -> Facts:
    """Return the facts about an attempt that succeeded."""
    return facts(delivery, "complete", **common)


def facts(delivery: Delivery, action: Any, **more: Any) -> Facts:
    """Return the facts about a delivery; `more` are those that only some have."""
    message = delivery.message
    return Facts(message.id, message.queue, message.attempt, message.round, action, **more)


def described(exception: BaseException) -> dict[str, Any]:
    """Return what the facts say of an exception."""
    return {
        "exception": exception,
        "exception_type": type_name(exception),
        "unreported": isinstance(exception, UnreportedFailure),
    }
