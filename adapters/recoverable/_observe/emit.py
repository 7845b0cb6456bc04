"""Tell what an invocation came to, in one place, once all of it is settled. What fails here is logged, and changes nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from recoverable._flow.drive import drive
from recoverable._ladder.settlement import Redeliver

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from recoverable._flow.flow import Steps
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._observe.facts import Facts
    from recoverable._observe.observer import Attempt, Note, Observer


class Outcome(NamedTuple):
    """What one attempt, or one decision without an attempt, came to; `done` is True if the decision was carried out."""

    facts: Facts
    done: bool
    attempt: Attempt | None
    note: Note | None


def emit_after_batch(observer: Observer, invocation: Invocation, unfinished: list[Delivery]) -> None:
    """Tell what a batch of SQS came to.

    Args:
        observer: what happened.
        invocation: the invocation; its interruption is replaced by one that the host may see.
        unfinished: the messages that SQS must deliver again.
    """
    drive(emit(observer, invocation, unfinished), no_handler, invocation.deadline)
    if invocation.interruption is not None:
        from recoverable._observe.host_errors import interruption_for_host  # noqa: PLC0415  # the failure side

        invocation.interruption = interruption_for_host(invocation.interruption, observer.settings.redact)


def no_handler(message: Message) -> None:
    """Raise: the steps of `emit` run no handler."""
    raise AssertionError(message.id)


def emit_after(steps: Steps, observer: Observer, invocation: Invocation, deliveries: list[Delivery]) -> Steps:
    """Do all steps of a function that settles by returning or raising, tell what it came to, and end as it ended.

    Args:
        steps: the flow.
        observer: what happened.
        invocation: the invocation.
        deliveries: all of its messages.

    Raises:
        Exception, KeyboardInterrupt, SystemExit: what the flow raised, or what the host may see of it.
    """
    failure: Exception | None = None
    interruption: KeyboardInterrupt | SystemExit | None = None
    try:
        yield from steps
    except Exception as error:  # noqa: BLE001  # raised below: outside of this block it gets no context
        failure = error
    except (KeyboardInterrupt, SystemExit) as error:
        interruption = error
    if failure is None and interruption is None:
        yield from emit(observer, invocation, [])
        return
    from recoverable._observe.host_errors import failure_for_host, interruption_for_host  # noqa: PLC0415  # the failure side

    if interruption is not None:
        safely(observer, partial(end_spans, observer, []))
        raise interruption_for_host(interruption, observer.settings.redact)
    yield from emit(observer, invocation, deliveries)
    if failure is not None:
        raise failure_for_host(failure, observer.settings.redact)


def emit(observer: Observer, invocation: Invocation, unfinished: Collection[Delivery]) -> Steps:
    """Tell what an invocation came to: spans, metrics, then callbacks.

    Args:
        observer: what happened.
        invocation: the invocation.
        unfinished: the messages that the broker delivers again.
    """
    limited = None if invocation.limiter is None else invocation.limiter.is_limited
    has_spans = any(attempt.span for attempt in observer.attempts)
    if not (observer.notes or has_spans or observer.settings.successes or limited is not None):
        return
    found = outcomes(observer, invocation, unfinished)
    safely(observer, partial(end_spans, observer, found))
    safely(observer, partial(print_to_cloudwatch, observer, found, rate_limited=limited))
    safely(observer, partial(record_metrics, observer, found, rate_limited=limited))
    if observer.notes:
        from recoverable._observe.callbacks import callbacks  # noqa: PLC0415  # the failure side

        yield from callbacks(observer, [each.note for each in found if each.note is not None and each.done])


def outcomes(observer: Observer, invocation: Invocation, unfinished: Collection[Delivery]) -> list[Outcome]:
    """Return what was decided, and the attempts that succeeded."""
    from recoverable._observe.noting import facts_of_success  # noqa: PLC0415  # imported when there is something to tell

    decided: list[Outcome] = []
    noted: set[int] = set()
    for note in observer.notes:
        is_repeated = note.attempt is not None and id(note.attempt) in noted  # a second decision about the same attempt
        facts = note.facts.__replace__(handler_time=None) if is_repeated else note.facts
        decided.append(Outcome(facts, is_done(note, invocation, unfinished), note.attempt, note))
        noted.add(id(note.attempt))
    for attempt in observer.attempts:
        if id(attempt) not in noted and attempt.delivery.error is None:
            common = {"handler_time": attempt.handler_time, "request_id": observer.request_id}
            decided.append(Outcome(facts_of_success(attempt.delivery, **common), done=True, attempt=attempt, note=None))
    return decided


def is_done(note: Note, invocation: Invocation, unfinished: Collection[Delivery]) -> bool:
    """True if what was decided has been done: no copy was refused, and no other settlement took its place."""
    redelivered = isinstance(note.settlement, Redeliver)
    if note.facts.action == "immediate_retry" and redelivered:
        return True
    replaced = note.settlement is not invocation.settlement_of(note.delivery)
    undone = note.delivery in unfinished and not redelivered
    return not (replaced or undone or note.facts.action == "undecided")


def end_spans(observer: Observer, found: list[Outcome]) -> None:
    """End the span of each attempt."""
    by_attempt = {id(each.attempt): each for each in found}
    for attempt in observer.attempts:
        outcome = by_attempt.get(id(attempt))
        observer.end_span(attempt, outcome and outcome.facts, done=outcome is not None and outcome.done)


def print_to_cloudwatch(observer: Observer, found: list[Outcome], *, rate_limited: bool | None) -> None:
    """Print the metrics of an invocation on Lambda in which something failed."""
    namespace, failed = observer.settings.cloudwatch_namespace, [each for each in found if each.note is not None]
    if namespace is None or observer.system != "aws_sqs" or not (failed or rate_limited):
        return
    from collections import Counter  # noqa: PLC0415  # the failure side

    from recoverable._observe.cloudwatch import print_metrics  # noqa: PLC0415  # as above
    from recoverable._observe.metrics import count  # noqa: PLC0415  # as above

    print_metrics(
        namespace,
        found[0].facts.queue,
        count((each.facts, each.done) for each in failed),
        rate_limited=rate_limited,
        exception_types=Counter(each.facts.exception_type for each in failed if is_counted(each)),
        request_id=observer.request_id,
        now=observer.clock(),
    )


def is_counted(outcome: Outcome) -> bool:
    """True if the exception counts: not again for a second decision about the same attempt."""
    return outcome.facts.exception_type != "" and (outcome.attempt is None or outcome.facts.handler_time is not None)


def record_metrics(observer: Observer, found: list[Outcome], *, rate_limited: bool | None) -> None:
    """Record metrics by OpenTelemetry, where the application has loaded it."""
    if not observer.settings.metrics:
        return
    from recoverable._observe.meter_client import meter_provider, record, set_rate_limited  # noqa: PLC0415  # imported when there is something to tell

    provider = meter_provider()
    if provider is None or not found:
        return
    wanted = [(each.facts, each.done) for each in found if each.note is not None or observer.settings.successes]
    record(provider, observer.system, wanted)
    if rate_limited is not None:  # after a success too: a gauge stays as it was set last
        set_rate_limited(provider, observer.system, found[0].facts.queue, rate_limited)


def safely(observer: Observer, tell: Callable[[], None]) -> None:
    """Tell, and log what that raises: a message is settled by now, whatever becomes of its metrics."""
    try:
        tell()
    except Exception as error:  # noqa: BLE001  # logged
        from recoverable._observe.log import exception_info, log_safely, observe  # noqa: PLC0415  # the failure side

        text = "Telling metrics or spans of an invocation failed (%s). Its messages are settled all the same. Check the set-up of OpenTelemetry."
        info, redact = exception_info(error), observer.settings.redact
        log_safely(observe.warning, text, type(error).__name__, exc_info=info, redact=redact)
