"""Decide about a failed attempt or a deferral: ask the policy, adjust its action to the platform, and make the settlement.

Where the user's policy fails, the next simpler policy decides. Where a broker does not take a copy, the message is sent
on later.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias, assert_never

from recoverable import headers
from recoverable._config import Delayed, Immediate, Recoverability
from recoverable._errors import HandlerTimeout, TimeUp, UnreportedFailure
from recoverable._ladder import copy_headers
from recoverable._ladder.backoff import chance, delay_after_refusal
from recoverable._ladder.delivery import (
    RATE_LIMITED,
    Deferral,
    Delivery,
    failures,
    is_retried_in_process,
    unreported_failures,
)
from recoverable._ladder.faults import message_of
from recoverable._ladder.last_failure import after_last_failure
from recoverable._ladder.policy import (
    Action,
    DelayedRetry,
    Discard,
    ErrorContext,
    ImmediateRetry,
    MoveToError,
    Policy,
    configured_delay,
    default_policy,
)
from recoverable._ladder.settlement import COMPLETE, Forward, Platform, Redeliver, Settlement
from recoverable._limits import MAX_DELAY, MAX_DELAYED, MAX_IMMEDIATE, NO_DELAY

Outcome: TypeAlias = Literal["immediate_retry", "delayed_retry", "move_to_error", "discard", "deferral"]

MOVING = "Moving message to error queue instead."
NOT_AVAILABLE = "not available with the current endpoint configuration"

NEXT_POLICY = "The next simpler policy decides for this message."

IN_PROCESS_IGNORED = (
    "Immediate(in_process=True) is ignored where the order of messages is kept. This message is redelivered for its retry. "
    "Leave in_process out for this queue."
)
"""The warning of a retry there: nothing could carry its count."""

FIRST_OF_NEXT_ROUND = (
    "Recoverability policy requested an immediate retry after the last one of a round, where the order of messages is kept. "
    "It is the first attempt of the next round."
)
BEHIND_ITS_SESSION = (
    "Recoverability policy requested more immediate retries than Immediate(max_retries), so the retry is a copy: "
    "the other messages of its session run before it. Raise max_retries."
)


class Decision(NamedTuple):
    """A decision about one delivery.

    Args:
        delivery: the delivery.
        event: the failed attempt's exception, or the deferral.
        action: the policy's action, adjusted to what the platform can do; None for a deferral.
        outcome: the name of what was decided, as logs, metrics and callbacks have it.
        failure: what the handler raised; None where it did not run.
        settlement: what the adapter must do.
        delay: how long the message waits; None where it does not.
        error_queue: the queue that `MoveToError` moves the message to; "" for another action.
        warnings: for the log: why the action is not the one that the user's policy returned.
        raised: the exceptions that policies raised, by the warnings about them.
    """

    delivery: Delivery
    event: BaseException | Deferral
    action: Action | None
    outcome: Outcome
    failure: BaseException | None
    settlement: Settlement
    delay: timedelta | None = None
    error_queue: str = ""
    warnings: tuple[str, ...] = ()
    raised: Mapping[str, Exception] = MappingProxyType({})

    @property
    def rate_limited(self) -> bool:
        """True if the message waits because the rate is limited."""
        return isinstance(self.event, Deferral) and self.event.reason == RATE_LIMITED


class Case(NamedTuple):
    """A failed attempt, and all that its decision depends on.

    Args:
        delivery: the delivery.
        context: the attempt, as a policy sees it.
        recoverability: the settings, the error queue resolved, without the retries that the platform cannot do.
        platform: what it counts and can do.
    """

    delivery: Delivery
    context: ErrorContext
    recoverability: Recoverability
    platform: Platform


def outcome_of(action: Action) -> Outcome:
    """Return the name of an action, as logs, metrics and callbacks have it."""
    match action:
        case ImmediateRetry():
            return "immediate_retry"
        case DelayedRetry():
            return "delayed_retry"
        case MoveToError():
            return "move_to_error"
        case Discard():
            return "discard"
        case _:
            assert_never(action)


def classify_timeout(stopped: TimeUp, seconds: float, *, counts_as_failure: bool) -> HandlerTimeout | None:
    """Return the failure of a handler that was stopped; None when the stop is no failure of the message.

    Args:
        stopped: the exception that stopped the handler.
        seconds: how long it was allowed to run.
        counts_as_failure: True if the handler had all the time that it may have, so that the stop is a failure of the
            message.
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
    """Return the decision about a failed attempt or a deferral.

    Args:
        delivery: the delivery.
        event: the failed attempt's exception; `UnreportedFailure` for earlier deliveries without a recorded outcome; or
            a deferral.
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        now: the time.
    """
    if isinstance(event, Deferral):
        settlement = settlement_of_deferral(delivery, event, platform, now)
        return Decision(
            delivery=delivery, event=event, action=None, outcome="deferral", failure=event.failure, delay=event.delay,
            settlement=settlement,
        )  # fmt: skip
    case = case_of(delivery, event, recoverability, platform, now)
    action, warnings, raised = evaluate_policy(case)
    action, warning = adjust_for_transport_capabilities(action, case)
    is_granted = isinstance(action, ImmediateRetry) and is_past_its_round(case)
    if platform.redelivers_only:
        if isinstance(action, ImmediateRetry) and recoverability.immediate.in_process:
            warnings += (IN_PROCESS_IGNORED,)
        if is_granted:
            action, warning = DelayedRetry(NO_DELAY), FIRST_OF_NEXT_ROUND
        action = at_least_configured(action, case)
    settlement = settlement_for(action, case)
    if is_granted and platform.sessions and isinstance(settlement, Forward):
        warning = BEHIND_ITS_SESSION
    return Decision(
        delivery=delivery, event=event, action=action, outcome=outcome_of(action), failure=event,
        delay=action.delay if isinstance(action, DelayedRetry) else None, settlement=settlement,
        error_queue=target_of(action, case) if isinstance(action, MoveToError) else "",
        warnings=(*warnings, warning) if warning else warnings, raised=raised,
    )  # fmt: skip


def move_instead_of_waiting(
    decision: Decision, why: str, *, recoverability: Recoverability, platform: Platform, now: datetime
) -> Decision:
    """Return the decision that moves a message to the error queue because it would wait in its queue and not be seen again.

    Args:
        decision: what was decided; its failure is the reason on the message.
        why: why it would not be seen again; the reason where nothing failed.
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        now: the time.
    """
    delivery, event = decision.delivery, decision.event
    failure = decision.failure
    if failure is None:
        failure = UnreportedFailure(
            f"it had to wait ({event.reason if isinstance(event, Deferral) else event}), and {why}"
        )
    warning = f"The message cannot wait in its queue: {why}. It moves to the error queue."
    return Decision(
        delivery=delivery, event=failure, action=MoveToError(), outcome="move_to_error", failure=failure,
        settlement=give_up(delivery, failure, recoverability=recoverability, platform=platform, now=now),
        error_queue=recoverability.failed.error_queue or "", warnings=(*decision.warnings, warning), raised=decision.raised,
    )  # fmt: skip


def redeliver_instead_of_copying(decision: Decision, why: str) -> Decision:
    """Return the decision that leaves a message to its broker, which delivers it again and counts that, because no copy may be sent.

    Args:
        decision: what was decided.
        why: why none may be sent.
    """
    redelivered = decision._replace(settlement=Redeliver(None), delay=None, warnings=(*decision.warnings, why))
    if isinstance(decision.event, Deferral):
        return redelivered._replace(event=decision.event.replace(delay=NO_DELAY))
    return redelivered._replace(action=ImmediateRetry(), outcome="immediate_retry", error_queue="")


def give_up(
    delivery: Delivery, exception: BaseException, *, recoverability: Recoverability, platform: Platform, now: datetime
) -> Forward:
    """Return the forwarding of a failed message to the default error queue, because no copy for a retry can be sent."""
    return forward_failed(MoveToError(), case_of(delivery, exception, recoverability, platform, now))


def case_of(
    delivery: Delivery, exception: BaseException, recoverability: Recoverability, platform: Platform, now: datetime
) -> Case:
    """Return the case of a failed attempt."""
    unreported = delivery.unreported and isinstance(exception, UnreportedFailure)
    # where messages are only redelivered, the broker's count is all there is
    count = unreported_failures if unreported and not platform.redelivers_only else failures
    context = ErrorContext(
        exception=exception,
        message=delivery.message,
        immediate_processing_failures=count(delivery, platform.counter),
        delayed_deliveries_performed=delivery.message.round,
        receive_address=delivery.message.queue,
        now=now,
        carried=delivery.carried,
    )
    return Case(delivery, context, available(recoverability, platform), platform)


def evaluate_policy(case: Case) -> tuple[Action, tuple[str, ...], dict[str, Exception]]:
    """Return the policy's action and no warnings.

    When it raises, returns no action, or moves the message to the queue that it came from, return the default policy's
    action and a warning; and what it raised, by the warnings.
    """
    warnings: tuple[str, ...] = ()
    raised: dict[str, Exception] = {}
    for name, policy, settings in candidates(case.recoverability):
        try:
            action = policy(settings, case.context)
        except Exception as error:  # noqa: BLE001  # logged; the next policy decides
            warnings += (f"{name} raised {type(error).__name__}: {message_of(error)}. {NEXT_POLICY}",)
            raised[warnings[-1]] = error
            continue
        if not isinstance(action, Action):
            warnings += (f"{name} returned {describe_invalid_action(action)}, which is no action. {NEXT_POLICY}",)
        elif moves_to_source(action, case):
            warnings += (f"{name} returned {action}, which is the queue that the message came from. {NEXT_POLICY}",)
        else:
            return action, warnings, raised
    return MoveToError(), warnings, raised


def moves_to_source(action: Action, case: Case) -> bool:
    """True if a policy would move a message to the queue that it came from, where it would fail again at once."""
    if not isinstance(action, MoveToError) or action.error_queue in {None, case.recoverability.failed.error_queue}:
        return False  # the configured error queue is the endpoint's to check
    queue, is_source = action.error_queue or "", case.platform.is_source
    return is_source(queue, case.delivery) if is_source else queue == case.delivery.message.queue


def describe_invalid_action(returned: object) -> str:
    """Return what a policy returned as a text for a warning; close a coroutine, because nobody will await it."""
    if isinstance(returned, Coroutine):
        returned.close()
    try:
        return repr(returned)
    except Exception:  # noqa: BLE001  # the warning then names the type alone
        return f"a {type(returned).__name__}"


def candidates(recoverability: Recoverability) -> Iterable[tuple[str, Policy, Recoverability]]:
    """Yield the policies in the order in which they are evaluated, each with its name and its settings.

    They are the user's policy, the default policy, and the default policy without the user's predicates and backoff.
    """
    if recoverability.policy is not None:
        yield "The recoverability policy", recoverability.policy, recoverability
    yield "A predicate or backoff", default_policy, recoverability
    types = [rule for rule in recoverability.failed.unrecoverable if isinstance(rule, type)]
    failed = recoverability.failed.__replace__(unrecoverable=types)
    delayed = recoverability.delayed.__replace__(backoff=None)
    yield "The default policy", default_policy, recoverability.__replace__(failed=failed, delayed=delayed)


def available(recoverability: Recoverability, platform: Platform) -> Recoverability:
    """Return the settings as policies see them: retries that the platform cannot do have `max_retries == 0`."""
    if not platform.immediate_retries:
        recoverability = recoverability.__replace__(immediate=Immediate(0))
    if not platform.delayed_retries:
        recoverability = recoverability.__replace__(delayed=Delayed(0, NO_DELAY))
    return recoverability


def adjust_for_transport_capabilities(action: Action, case: Case) -> tuple[Action, str | None]:
    """Return the action that the platform can do, and a warning when it is not the requested one.

    This cannot be switched off.
    """
    if warning := impossible(action, case) or too_long_a_wait(action, case.platform):
        return MoveToError(), f"Recoverability policy requested {warning}. {MOVING}"
    if case.platform.shared_process and isinstance(action, DelayedRetry):
        return add_jitter(action, case.context), None
    return action, None


def too_long_a_wait(action: Action, platform: Platform) -> str | None:
    """Return what was requested and why the platform cannot do it, where messages wait in place and not so long; None when it can."""
    longest = platform.longest_delay if platform.redelivers_only else None
    if longest is None or not isinstance(action, DelayedRetry) or action.delay <= longest:
        return None
    return f"a delay of {action.delay} where a message can wait for {longest} at most"


def at_least_configured(action: Action, case: Case) -> Action:
    """Return a delayed retry that waits no less than the configured delay before the next round, if there is one; any other action as it is."""
    delayed, retries_made = case.recoverability.delayed, case.context.delayed_deliveries_performed
    if not isinstance(action, DelayedRetry) or retries_made >= delayed.max_retries:
        return action
    return DelayedRetry(max(action.delay, configured_delay(delayed, retries_made, case.context.message.id)))


def add_jitter(retry: DelayedRetry, context: ErrorContext) -> DelayedRetry:
    """Return the delayed retry of an `UnreportedFailure` with a delay that is longer by 0 to 100 %; any other as it is.

    Messages of a process that one of them crashed were delivered together. Without jitter they would be delivered
    together in each round, and the message that crashes would take the others along to the error queue.
    """
    if not isinstance(context.exception, UnreportedFailure):
        return retry
    share = chance(context.message.id, context.delayed_deliveries_performed)
    return DelayedRetry(min(retry.delay * (1 + share), MAX_DELAY))


def is_past_its_round(case: Case) -> bool:
    """True if an immediate retry would be one more than `Immediate(max_retries)` says."""
    return case.context.immediate_processing_failures > case.recoverability.immediate.max_retries


def impossible(action: Action, case: Case) -> str | None:
    """Return what was requested and why the platform cannot do it; None when it can."""
    platform, retries_made = case.platform, case.context.delayed_deliveries_performed
    is_last_round = retries_made >= case.recoverability.delayed.max_retries
    is_last_attempt = platform.redelivers_only and is_last_round and is_past_its_round(case)
    match action:
        case ImmediateRetry() if not platform.immediate_retries:
            return f"ImmediateRetry however immediate retries are {NOT_AVAILABLE}"
        case DelayedRetry() if not platform.delayed_retries:
            return f"DelayedRetry however delayed delivery capability is {NOT_AVAILABLE}"
        case ImmediateRetry() if case.context.immediate_processing_failures > MAX_IMMEDIATE:
            return f"more than {MAX_IMMEDIATE} immediate retries"
        case DelayedRetry() if retries_made >= MAX_DELAYED:
            return f"more than {MAX_DELAYED:,} delayed retries"
        case ImmediateRetry() | DelayedRetry() if is_last_attempt:
            return "a retry after the last attempt, where the order of messages is kept"
        case _:
            return None


def settlement_for(action: Action, case: Case) -> Settlement:
    """Return what the adapter must do for the action on this platform."""
    delivery, context, platform = case.delivery, case.context, case.platform
    match action:
        case ImmediateRetry() if is_redelivered(case):
            return Redeliver(NO_DELAY)
        case ImmediateRetry():
            most = case.recoverability.immediate.max_retries
            changes = copy_headers.immediate_retry(delivery, context, platform, most)
            return Forward(context.receive_address, NO_DELAY, changes)
        case DelayedRetry(delay) if platform.redelivers_only:
            return Redeliver(delay)
        case DelayedRetry(delay):
            changes = copy_headers.delayed_retry(delivery, context)
            return delayed_copy(context.receive_address, delay, changes, platform, context.now)
        case MoveToError():
            return forward_failed(action, case)
        case Discard():
            return COMPLETE
        case _:
            assert_never(action)


def forward_failed(action: MoveToError, case: Case) -> Forward:
    """Return the forwarding of a failed message to an error queue, with the headers that say why."""
    changes = copy_headers.move_to_error(case.context, case.platform, case.recoverability.redact)
    changes |= copy_headers.times_of_handler(case.delivery, case.context.now)
    last = case.delivery.last_failure
    if last is not None and isinstance(case.context.exception, UnreportedFailure):
        changes |= after_last_failure(changes, last, case.delivery.receives)
    return Forward(target_of(action, case), NO_DELAY, changes)


def target_of(action: MoveToError, case: Case) -> str:
    """Return the error queue that a message moves to: the action's, else the configured one."""
    return action.error_queue or case.recoverability.failed.error_queue or ""


def is_redelivered(case: Case) -> bool:
    """True if an immediate retry is the same message again.

    Past `Immediate(max_retries)` it is a copy, so that the broker's own limit is never met, unless it is made in process.
    """
    in_process = case.recoverability.immediate.in_process and is_retried_in_process(case.delivery, case.platform)
    return case.platform.counter == "native" and (in_process or not is_past_its_round(case))


def settlement_of_deferral(delivery: Delivery, deferral: Deferral, platform: Platform, now: datetime) -> Settlement:
    """Return what the adapter must do to let the message wait without counting an attempt."""
    if platform.redelivers_only or deferral.in_place:
        return Redeliver(deferral.delay, in_place=deferral.in_place)
    queue, delay = delivery.message.queue, deferral.delay
    if deferral.hop:  # the copy keeps the counts, and the date when it is due, whatever this clock says
        changes = copy_headers.identity_headers(delivery.message, delivery.carried)
        return delayed_copy(queue, delay, changes, platform, now, due_at=delivery.due_at)
    changes = copy_headers.deferral(delivery, delay, platform, now, stopped=deferral.stopped)
    return delayed_copy(queue, delay, changes, platform, now)


def delayed_copy(
    to: str,
    delay: timedelta,
    changes: copy_headers.Changes,
    platform: Platform,
    now: datetime,
    due_at: datetime | None = None,
) -> Forward:
    """Return the forwarding of a copy that waits.

    A copy that must wait longer than the broker can delay one carries when it is due, and hops until then.
    """
    longest = platform.longest_delay
    if longest is not None and delay > longest:
        due_at, delay = due_at or now + delay, longest
    return Forward(to, delay, {**changes, headers.DUE_AT: headers.write_date(due_at) if due_at else None})


def deferral_after_refusal(delivery: Delivery, refused: Forward) -> Forward:
    """Return the deferral of a message whose copy for the error queue was refused for good.

    It goes to the queue that the message came from, carries the fault headers already, and is sent on without running
    the handler.

    Args:
        delivery: the message as it came.
        refused: its forwarding to the error queue.
    """
    refusals = delivery.carried.refused_sends
    changes = {**refused.changes, headers.REFUSED_SENDS: copy_headers.write_count(refusals + 1)}
    return Forward(delivery.message.queue, delay_after_refusal(refusals), changes)


def forward_given_up(delivery: Delivery, error_queue: str) -> Forward:
    """Return the forwarding of a message that was given up earlier: to the error queue, with the fault headers that it carries.

    Args:
        delivery: the message; its `given_up` is True.
        error_queue: the configured one. No header names it: a sender could otherwise have a message sent to any queue.
    """
    return Forward(
        error_queue,
        NO_DELAY,
        {**copy_headers.identity_headers(delivery.message, delivery.carried), **dict.fromkeys(headers.RETRY_HEADERS)},
    )
