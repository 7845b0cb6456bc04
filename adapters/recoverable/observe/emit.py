"""Tell what an invocation came to, in one place, once all of it is settled. What fails here is logged, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recoverable.attempts.drive import drive
from recoverable.observe.callbacks import callbacks
from recoverable.observe.host_errors import failure_for_host, interruption_for_host
from recoverable.recovery.settlement import Redeliver

if TYPE_CHECKING:
    from collections.abc import Collection

    from recoverable.attempts.flow import Steps
    from recoverable.attempts.invocation import Invocation
    from recoverable.message import Message
    from recoverable.observe.observer import Note, Observer
    from recoverable.recovery.delivery import Delivery


def emit_after_batch(observer: Observer, invocation: Invocation, unfinished: list[Delivery]) -> None:
    """Tell what a batch of SQS came to.

    Args:
        observer: what happened.
        invocation: the invocation; its interruption is replaced by one that the host may see.
        unfinished: the messages that SQS must deliver again.
    """
    drive(emit(observer, unfinished), no_handler)
    if invocation.interruption is not None:
        invocation.interruption = interruption_for_host(invocation.interruption, observer.settings.redact)


def no_handler(message: Message) -> None:
    """Raise: the steps of `emit` run no handler."""
    raise AssertionError(message.id)


def emit_after(steps: Steps, observer: Observer, deliveries: list[Delivery]) -> Steps:
    """Do all steps of a function that settles by returning or raising, tell what it came to, and end as it ended.

    Args:
        steps: the flow.
        observer: what happened.
        deliveries: all messages of the invocation.

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
    if interruption is not None:
        raise interruption_for_host(interruption, observer.settings.redact)
    yield from emit(observer, [] if failure is None else deliveries)
    if failure is not None:
        raise failure_for_host(failure, observer.settings.redact)


def emit(observer: Observer, unfinished: Collection[Delivery]) -> Steps:
    """Tell what an invocation came to.

    Args:
        observer: what happened.
        unfinished: those that the broker delivers again.
    """
    done = [note for note in observer.notes if is_done(note, unfinished)]
    yield from callbacks(observer, done)


def is_done(note: Note, unfinished: Collection[Delivery]) -> bool:
    """True if what was decided has been done: no copy was refused, and no other settlement took its place."""
    redelivered = isinstance(note.settlement, Redeliver)
    if note.facts.action == "immediate_retry" and redelivered:
        return True
    replaced = note.settlement is not note.delivery.settlement
    undone = note.delivery in unfinished and not redelivered
    return not (replaced or undone or note.facts.action == "undecided")
