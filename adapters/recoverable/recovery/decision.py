"""A failed attempt or a deferral in, the decision out: the one place that joins policy, counting, headers and faults."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from recoverable import headers
from recoverable.config import Failed, Recoverability
from recoverable.errors import HandlerTimeout, TimeUp, UnreportedFailure
from recoverable.limits import NO_DELAY
from recoverable.recovery import copy_headers as changes
from recoverable.recovery import counting
from recoverable.recovery.actions import Action, DelayedRetry, Discard, ImmediateRetry, MoveToError
from recoverable.recovery.delivery import Deferral, Delivery, Platform
from recoverable.recovery.error_context import ErrorContext
from recoverable.recovery.faults import message_of
from recoverable.recovery.policy import Policy, adjust_for_transport_capabilities, available, default_policy
from recoverable.recovery.settlement import COMPLETE, Forward, Redeliver, Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided about one delivery.

    Args:
        delivery: the delivery.
        event: what happened: the failure, or the deferral asked for.
        action: the policy's answer, as far as the platform can; None for a deferral.
        settlement: what the adapter must do.
        error_queue: where the action moves the message.
        warnings: what went otherwise than the user asked.
    """

    delivery: Delivery
    event: BaseException | Deferral
    action: Action | None
    settlement: Settlement
    error_queue: str = ""
    warnings: tuple[str, ...] = ()


def classify_timeout(stopped: TimeUp, seconds: float, *, counts_as_failure: bool) -> HandlerTimeout | None:
    """Return the failure of a handler that was stopped; None when it had not all the time there is: that is no failure.

    Args:
        stopped: how the handler ended.
        seconds: how long it was allowed to run.
        counts_as_failure: True if needing longer is a failure of the message.
    """
    if not counts_as_failure:
        return None
    return HandlerTimeout(f"stopped after {seconds:.1f} seconds").with_traceback(stopped.__traceback__)


def decide(
    delivery: Delivery,
    event: BaseException | Deferral,
    *,
    recoverability: Recoverability,
    platform: Platform,
    now: datetime,
) -> Decision:
    """The decision about what happened to a delivery.

    Args:
        delivery: the delivery.
        event: the failed attempt's exception, `UnreportedFailure` for earlier deliveries without a word, or a deferral.
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        now: the time.
    """
    if isinstance(event, Deferral):
        settlement = settlement_of_deferral(delivery, event, platform, now)
        return Decision(delivery=delivery, event=event, action=None, settlement=settlement)
    recoverability = available(recoverability, platform)
    context = error_context(delivery, event, platform, now)
    action, warnings = evaluate_policy(recoverability, context)
    action, warning = adjust_for_transport_capabilities(action, context, platform)
    error_queue = (isinstance(action, MoveToError) and action.error_queue) or recoverability.failed.error_queue or ""
    return Decision(
        delivery=delivery,
        event=event,
        action=action,
        settlement=settlement_for(delivery, action, context, platform, error_queue),
        error_queue=error_queue,
        warnings=(*warnings, warning) if warning else warnings,
    )


def error_context(delivery: Delivery, exception: BaseException, platform: Platform, now: datetime) -> ErrorContext:
    """The failure in a policy's words."""
    unreported = delivery.unreported and isinstance(exception, UnreportedFailure)
    counted_here = unreported and not platform.redelivers_only  # in place, the broker's count tells all
    count = counting.unreported_failures if counted_here else counting.failures
    return ErrorContext(
        exception=exception,
        message=delivery.message,
        immediate_processing_failures=count(delivery, platform.counter),
        delayed_deliveries_performed=delivery.message.round,
        receive_address=delivery.message.queue,
        now=now,
    )


def evaluate_policy(recoverability: Recoverability, context: ErrorContext) -> tuple[Action, tuple[str, ...]]:
    """The policy's answer; when it raises or answers nonsense, the default policy's, and a warning."""
    warnings: tuple[str, ...] = ()
    for name, policy, settings in candidates(recoverability):
        try:
            action = policy(settings, context)
        except Exception as error:  # noqa: BLE001  # the message must not suffer: the next policy is asked, and it is logged
            warnings += (
                f"{name} raised {type(error).__name__}: {message_of(error)}. The next simpler policy decides for this message.",
            )
            continue
        if isinstance(action, Action):
            return action, warnings
        warnings += (
            f"{name} answered {describe_invalid_action(action)}, which is no action. The next simpler policy decides for this message.",
        )
    return MoveToError(), warnings


def describe_invalid_action(answer: object) -> str:
    """The answer as a warning can show it; a coroutine is closed, for nobody will await it."""
    if isinstance(answer, Coroutine):
        answer.close()
    try:
        return repr(answer)
    except Exception:  # noqa: BLE001  # told without it: the message must not suffer
        return f"a {type(answer).__name__}"


def candidates(recoverability: Recoverability) -> Iterable[tuple[str, Policy, Recoverability]]:
    """Whom to ask in turn: the user's policy, the default one, and the default one without the user's functions."""
    if recoverability.policy is not None:
        yield "The recoverability policy", recoverability.policy, recoverability
    yield "A predicate or backoff", default_policy, recoverability
    types = [rule for rule in recoverability.failed.unrecoverable if isinstance(rule, type)]
    yield (
        "The default policy",
        default_policy,
        recoverability.__replace__(
            failed=Failed(recoverability.failed.error_queue, types),
            delayed=recoverability.delayed.__replace__(backoff=None),
        ),
    )


def settlement_for(
    delivery: Delivery, action: Action, context: ErrorContext, platform: Platform, error_queue: str
) -> Settlement:
    """What the adapter must do for the action on this platform."""
    match action:
        case ImmediateRetry() if platform.counter == "native":
            return Redeliver(NO_DELAY)
        case ImmediateRetry():
            return Forward(context.receive_address, NO_DELAY, changes.immediate_retry(delivery))
        case DelayedRetry(delay) if platform.redelivers_only:
            return Redeliver(delay)
        case DelayedRetry(delay):
            return delayed_copy(
                context.receive_address, delay, changes.delayed_retry(delivery, context), platform, context.now
            )
        case MoveToError():
            return Forward(error_queue, NO_DELAY, changes.move_to_error(context, platform))
        case Discard():
            return COMPLETE
        case _:
            assert_never(action)


def settlement_of_deferral(delivery: Delivery, deferral: Deferral, platform: Platform, now: datetime) -> Settlement:
    """What the adapter must do to let the message wait without counting an attempt."""
    if platform.redelivers_only:
        return Redeliver(deferral.delay)
    queue = delivery.message.queue
    if deferral.hop:  # the next leg changes nothing, and stays due when it was, whatever this clock says
        return delayed_copy(
            queue, deferral.delay, changes.kept(delivery.message), platform, now, due_at=delivery.due_at
        )
    changed = changes.deferral(delivery, deferral.delay, now, stopped=deferral.stopped)
    return delayed_copy(queue, deferral.delay, changed, platform, now)


def delayed_copy(
    to: str,
    delay: timedelta,
    changed: changes.Changes,
    platform: Platform,
    now: datetime,
    due_at: datetime | None = None,
) -> Forward:
    """A copy that waits; one that must wait longer than the broker can carries when it is due, and hops until then."""
    longest = platform.longest_delay
    if longest is not None and delay > longest:
        due_at, delay = due_at or now + delay, longest
    return Forward(to, delay, {**changed, headers.DUE_AT: headers.write_date(due_at) if due_at else None})
