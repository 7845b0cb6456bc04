"""Report an invocation to those who observe it, once all of it is settled: spans and metrics, then callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from recoverable._flow.flow import drive

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Coroutine

    from recoverable._flow.flow import Steps
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.faults import Redact
    from recoverable._message import Message
    from recoverable._observe.observer import Observer

    Interruption: TypeAlias = KeyboardInterrupt | SystemExit


class RedactedFailure(Exception):
    """Raised to the host in place of an exception whose text the redactor may change; the text begins with that one's type."""


def emit_after_batch(observer: Observer, invocation: Invocation, unfinished: list[Delivery]) -> None:
    """Report the outcome of a batch of SQS.

    Args:
        observer: has collected what happened.
        invocation: the invocation; its interruption is replaced by one that the host may see.
        unfinished: the messages that SQS must deliver again.
    """
    drive(emit(observer, invocation, unfinished), no_handler, invocation.deadline)
    if invocation.interruption is not None:
        invocation.interruption = interruption_for_host(invocation.interruption, observer.settings.redact)


def no_handler(message: Message) -> None:
    """Raise: the steps of `emit` run no handler."""
    raise AssertionError(message.id)


def emit_after(steps: Steps, observer: Observer, invocation: Invocation, deliveries: list[Delivery]) -> Steps:
    """Do all steps of a function that settles by returning or raising, report the outcome, and end as the steps ended.

    Args:
        steps: the flow.
        observer: collects what happens.
        invocation: the invocation.
        deliveries: all of its messages.

    Raises:
        Exception, KeyboardInterrupt, SystemExit: what the flow raised, or what the host may see of it.
    """
    failure: Exception | None = None
    interruption: Interruption | None = None
    try:
        yield from steps
    except Exception as error:  # noqa: BLE001  # raised below: outside of this block it gets no context
        failure = error
    except (KeyboardInterrupt, SystemExit) as error:
        interruption = error
    if interruption is not None:
        observer.end_spans([])
        raise interruption_for_host(interruption, observer.settings.redact)
    yield from emit(observer, invocation, deliveries if failure is not None else [])
    if failure is not None:
        raise failure_for_host(failure, observer.settings.redact)


def emit(observer: Observer, invocation: Invocation, unfinished: Collection[Delivery]) -> Steps:
    """Report the outcome of an invocation: spans, metrics, then callbacks.

    Args:
        observer: has collected what happened.
        invocation: the invocation.
        unfinished: the messages that the broker delivers again.
    """
    limited = None if invocation.limiter is None else invocation.limiter.is_limited
    done = observer.report(unfinished, invocation.settlement_of, rate_limited=limited)
    if not observer.notes:
        return
    from recoverable._observe.callbacks import callbacks  # noqa: PLC0415  # the failure side

    for call in callbacks(observer, done, cancelled_after):
        coroutine = yield call
        if coroutine is not None:  # `drive_async` has awaited it
            from recoverable._flow.event_loop import run_in_loop  # noqa: PLC0415  # asyncio, for coroutines alone

            run_in_loop(coroutine)


def cancelled_after(seconds: float, awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """Return a coroutine that awaits to the end, and cancels when the time is up."""
    from recoverable._flow.event_loop import within  # noqa: PLC0415  # asyncio, for coroutines alone

    return within(seconds, awaitable)


def failure_for_host(error: Exception, redact: Redact | None) -> Exception:
    """Return what is raised to the host instead of an exception; the exception itself where there is no redactor."""
    if redact is None:
        return error
    from recoverable._ladder.faults import type_name  # noqa: PLC0415  # the failure side

    return RedactedFailure(f"{type_name(error)}: {redacted_message(error, redact)}")


def interruption_for_host(error: Interruption, redact: Redact | None) -> Interruption:
    """Return what is raised to the host instead of an interruption: one of its kind, with an exit code or the redacted text."""
    if redact is None:
        return error
    match error:
        case SystemExit(code=int() | None as code):
            return SystemExit(code)
        case SystemExit():
            return SystemExit(redacted_message(error, redact))
        case _:
            return KeyboardInterrupt(redacted_message(error, redact))


def redacted_message(error: BaseException, redact: Redact) -> str:
    """Return the exception's text as the redactor returns it."""
    from recoverable._ladder.faults import message_of, redacted  # noqa: PLC0415  # the failure side

    return redacted(message_of(error), redact)
