"""Log what was decided about each message, in NServiceBus's words."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, assert_never

from recoverable._errors import MessageDeserializationError
from recoverable._ladder.delivery import Deferral, Delivery
from recoverable._ladder.faults import Redact, redacted, traceback_in_handler, type_name
from recoverable._ladder.groups import leaves, ungrouped
from recoverable._ladder.policy import DelayedRetry, Discard, ImmediateRetry, MoveToError
from recoverable._ladder.settlement import Forward, Redeliver
from recoverable._message import Message

if TYPE_CHECKING:
    from recoverable._ladder.decision import Decision

immediate_retry = logging.getLogger("recoverable.immediate_retry")
delayed_retry = logging.getLogger("recoverable.delayed_retry")
move_to_error = logging.getLogger("recoverable.move_to_error")
complete = logging.getLogger("recoverable.complete")
discard = logging.getLogger("recoverable.discard")
deferral = logging.getLogger("recoverable.deferral")
policy = logging.getLogger("recoverable.policy")
rate_limit = logging.getLogger("recoverable.rate_limit")
observe = logging.getLogger("recoverable.observe")
settlement = logging.getLogger("recoverable.settlement")

UNDECIDED = (
    "Deciding about a failure of message '%s' from '%s' failed (%s). It stays on the queue and will be redelivered. "
    "Check the traceback of this log entry."
)


NO_COPY = "No copy of message '%s' can be sent to '%s': %s"
USES_DELIVERY = "It waits in its queue, which uses up one of its deliveries."


def report(decision: Decision, redact: Redact | None = None, *, in_text: bool = False, stays: str = "") -> None:
    """Log a decision: warnings first, then what becomes of the message.

    Args:
        decision: the decision.
        redact: the user's redactor, which each line passes.
        in_text: True where the host's log keeps nothing but the text, which then ends with the facts.
        stays: why the message stays in its queue, because no copy can be made of it; "" where it does not.
    """
    fields = searchable(decision)
    details: dict[str, Any] = {"extra": fields, "redact": redact, "tail": tail_of(fields) if in_text else ""}
    report_warnings(decision, details)
    message_id, event, failure = decision.delivery.message.id, decision.event, decision.failure
    info = exception_info(failure) if failure is not None else None
    if stays and isinstance(decision.settlement, Forward):
        log_safely(settlement.error, NO_COPY, message_id, decision.settlement.to, stays, exc_info=info, **details)
        return
    if isinstance(event, Deferral):
        counted = not event.in_place and isinstance(decision.settlement, Redeliver)
        text = "Deferring message '%s' for %s: %s. " + (USES_DELIVERY if counted else "This counts as no attempt.")
        log_safely(deferral.info, text, message_id, time_span(event.delay), event.reason, exc_info=info, **details)
    match decision.action:
        case ImmediateRetry():
            text = "Immediate Retry is going to retry message '%s' because of an exception:"
            log_safely(immediate_retry.info, text, message_id, exc_info=info, **details)
        case DelayedRetry(delay):
            text = "Delayed Retry will reschedule message '%s' after a delay of %s because of an exception:"
            log_safely(delayed_retry.warning, text, message_id, time_span(delay), exc_info=info, **details)
        case MoveToError():
            text = "Moving message '%s' to the error queue '%s' because processing failed due to an exception:"
            log_safely(move_to_error.error, text, message_id, decision.error_queue, exc_info=info, **details)
        case Discard(reason):
            text = "Discarding message with id '%s'. Reason: %s"
            log_safely(discard.info, text, message_id, reason, **details)
        case None:
            pass  # the deferral above
        case _:
            assert_never(decision.action)


def report_success(delivery: Delivery, now: datetime, redact: Redact | None = None, *, in_text: bool = False) -> None:
    """Log that a message succeeded that had failed before; see `report` for the arguments.

    Args:
        delivery: its delivery.
        now: the time.
        redact: the user's redactor.
        in_text: True where the host's log keeps nothing but the text.
    """
    message, first = delivery.message, delivery.carried.first_failed_at
    since = "" if first is None or first > now else f", {time_span(now - first)} after its first failure"
    fields = attempt_fields(message, "complete")
    text, tail = "Message '%s' succeeded at attempt %d of round %d%s.", tail_of(fields) if in_text else ""
    facts = message.id, message.attempt, message.round, since
    log_safely(complete.info, text, *facts, extra=fields, redact=redact, tail=tail)


def report_warnings(decision: Decision, details: dict[str, Any]) -> None:
    """Log why the action is not the one that the user's policy returned."""
    for warning in decision.warnings:
        error = decision.raised.get(warning)
        trace = error and (type(error), error, error.__traceback__)
        log_safely(policy.warning, "%s", warning, exc_info=trace, **details)


def report_undecided(delivery: Delivery, error: Exception, redact: Redact | None = None) -> None:
    """Log that the decision about a failure raised, such as for an exception that itself raises when it is read."""
    message, kind = delivery.message, type(error).__name__
    extra = {"message_id": message.id, "queue": message.queue}
    info = (type(error), error, error.__traceback__)
    log_safely(policy.warning, UNDECIDED, message.id, message.queue, kind, exc_info=info, extra=extra, redact=redact)


def log_unreadable_header(name: str, message_id: str, queue: str) -> None:
    """Log that a header of this package's is not as this package writes it, so that nothing is restored from it."""
    text = "Reading the header %s of message '%s' from '%s' failed (nothing here writes it so). The message is handled, and keeps the header. Check its sender."
    log_safely(settlement.warning, text, name, message_id, queue, extra={"message_id": message_id, "queue": queue})


def report_half_used(message: Message, retention: timedelta) -> None:
    """Log that the first message of a group has used half of its retention, which those behind it use up unseen."""
    text = (
        "Message '%s' from '%s' has used half of its retention. The messages behind it in its group '%s' age unseen, and expire %s after "
        "their own send. Shorten the ladder's delays, or raise the queue's retention."
    )
    extra = {"message_id": message.id, "queue": message.queue}
    log_safely(settlement.warning, text, message.id, message.queue, message.group_id, retention, extra=extra)


def report_given_up(delivery: Delivery, error_queue: str) -> None:
    """Log that a message that was given up earlier is sent to the error queue again, which refused its copy then."""
    message = delivery.message
    text = (
        "Moving message '%s' to the error queue '%s' again: its copy was refused before. Its handler does not run. "
        "Its headers say why it failed."
    )
    extra = {"message_id": message.id, "queue": message.queue, "error_queue": error_queue}
    log_safely(move_to_error.info, text, message.id, error_queue, extra=extra)


def log_observing_failed(error: BaseException, redact: Redact | None, text: str, *facts: object) -> None:
    """Log that observing failed, which changes nothing about any message; the arguments are those of `log_safely`."""
    log_safely(observe.warning, text, *facts, exc_info=exception_info(error), redact=redact)


def log_safely(
    write: Callable[..., None], text: str, *facts: object, redact: Redact | None = None, tail: str = "", **details: Any
) -> None:
    """Log a line.

    Where the log's own handler raises, write the line to stderr, so that the message is settled all the same.

    Lambda's log handlers let their errors escape, such as the error for a line with half a surrogate pair, which any
    JSON can contain.

    Args:
        write: the logger's method.
        text: the line, with `%s` for each fact.
        facts: the values for the line.
        redact: the user's redactor: the line passes it, and so does the traceback, which is then text and no
            `exc_info`.
        tail: our own facts for the end of the line, which no redactor may take away.
        details: `exc_info` and `extra`, as the logger takes them.
    """
    if redact is not None:
        trace = formatted(info, redact) if (info := details.pop("exc_info", None)) else ""
        text, facts = "%s%s%s", (redacted(text % facts, redact), tail, trace and f"\n{trace}")
    elif tail:
        text, facts = f"{text}%s", (*facts, tail)
    try:
        write(text, *facts, **details, stacklevel=2)
    except Exception as error:  # noqa: BLE001  # whatever a log handler raises; in ASCII, each stderr takes the line
        line = f"{text % facts} (The log did not take this line: {type(error).__name__}.)"
        sys.stderr.write(f"{line.encode('ascii', 'backslashreplace').decode()}\n")


def exception_info(exception: BaseException) -> tuple[type[BaseException], BaseException, TracebackType | None]:
    """Return the exception for a log, its traceback beginning in the handler.

    The cause of a `MessageDeserializationError`, alone or in a group, is not logged, only put on the error queue: a
    model's error quotes the body, which may be secret.
    """
    trace = traceback_in_handler(exception)
    inside = leaves(exception)
    if any(isinstance(each, MessageDeserializationError) for each in inside):
        quiet = [without_cause(each) for each in inside]
        exception = quiet[0] if inside[0] is exception else BaseExceptionGroup(f"{len(quiet)} exceptions", quiet)
    return type(exception), exception, trace


def without_cause(exception: BaseException) -> BaseException:
    """Return a `MessageDeserializationError` without its cause; any other exception as it is."""
    if not isinstance(exception, MessageDeserializationError):
        return exception
    return MessageDeserializationError(*exception.args).with_traceback(exception.__traceback__)


def traceback_of(exception: BaseException, redact: Redact | None) -> str:
    """Return the exception's traceback as text, as the redactor returns it."""
    return formatted(exception_info(exception), redact)


def formatted(exception: Any, redact: Redact | None) -> str:
    """Return the traceback of what a logger takes as `exc_info`, as the redactor returns it."""
    from traceback import format_exception  # noqa: PLC0415  # dear at cold start

    try:
        trace = "".join(format_exception(*exception)).rstrip()
    except Exception as error:  # noqa: BLE001  # an exception whose parts raise when they are read; the text says so
        return f"(no traceback: reading the exception raised {type(error).__name__})"
    return redacted(trace, redact)


def searchable(decision: Decision) -> dict[str, object]:
    """Return the fields for searching a structured log; the exception is logged as `exc_info`, and a body never."""
    failure, delay = decision.failure, decision.delay
    fields = attempt_fields(decision.delivery.message, decision.outcome) | {
        "exception_type": type_name(ungrouped(failure)) if failure is not None else "",
        "error_queue": decision.error_queue, "delay_seconds": "" if delay is None else delay.total_seconds(),
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value != ""}


def attempt_fields(message: Message, action: str) -> dict[str, object]:
    """Return the fields that each line about an attempt has."""
    return {
        "message_id": message.id, "attempt": message.attempt, "round": message.round, "queue": message.queue, "action": action,
    }  # fmt: skip


def tail_of(fields: dict[str, object]) -> str:
    """Return the fields as text, for a log that keeps nothing else; docs/run/watch.md has the query that reads them."""
    shown = [f"{name}={fields.get(name, '')}" for name in ("action", "attempt", "round", "queue")]
    if "exception_type" in fields:
        shown.append(f"exception={fields['exception_type']}")
    return f" [{' '.join(shown)}]"


def time_span(delay: timedelta) -> str:
    """Return the duration as .NET writes it, `[d.]hh:mm:ss[.fffffff]`."""
    minutes, seconds = divmod(delay.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days = f"{delay.days}." if delay.days else ""
    fraction = f".{delay.microseconds:06}0" if delay.microseconds else ""
    return f"{days}{hours:02}:{minutes:02}:{seconds:02}{fraction}"
