"""Decide about a message, log the decision, and note it for what is told once the message is settled.

This is the failure side that both clouds share. It is imported when something first fails.
"""

from __future__ import annotations

from recoverable._config import redactor_of
from recoverable._flow.invocation import Invocation
from recoverable._ladder.counting import is_retried_in_process
from recoverable._ladder.decision import decide, forward_given_up
from recoverable._ladder.delivery import Deferral, Delivery, Platform, Redeliver, Settlement
from recoverable._observe.log import report, report_given_up, report_undecided
from recoverable._outgoing.message import OutgoingRefused


def decide_and_report(delivery: Delivery, event: BaseException | Deferral, invocation: Invocation) -> Settlement:
    """Return the settlement of a delivery, and log it; where the decision itself raises, the message is redelivered.

    Args:
        delivery: the delivery.
        event: the failed attempt's exception, or the deferral.
        invocation: what it came in.
    """
    settings, observer = invocation.recoverability, invocation.observer
    platform = platform_for(delivery, event, invocation)
    redact = redactor_of(settings)
    try:
        decision = decide(delivery, event, recoverability=settings, platform=platform, now=invocation.clock())
    except Exception as error:  # noqa: BLE001  # logged; such as for an exception that raises when it is read
        report_undecided(delivery, error, redact)
        return Redeliver(None) if observer is None else observer.note_undecided(delivery)
    report(decision, redact, in_text=platform.text_log)
    return decision.settlement if observer is None else observer.note(decision)


def platform_for(delivery: Delivery, event: BaseException | Deferral, invocation: Invocation) -> Platform:
    """Return what counts for the next attempt of a delivery; this is the broker, unless the message is retried in process.

    There its count is 1, so both counters count the same failures, and they differ in how an immediate retry is made: "native" by
    giving it back at once, which this invocation does itself; "header", by a copy that carries the count, once no time is left, and for what
    was refused when the handlers had run.
    """
    platform = invocation.platform
    if not is_retried_in_process(delivery, invocation.recoverability.immediate, platform):
        return platform
    runs = not isinstance(event, OutgoingRefused) and invocation.interruption is None
    return platform.__replace__(counter="native" if runs and invocation.seconds_for_retries() > 0 else "header")


def send_on(delivery: Delivery, invocation: Invocation) -> Settlement:
    """Return the settlement of a message that was given up earlier, and log it; its handler does not run.

    Args:
        delivery: the delivery; its `given_up` is True.
        invocation: what it came in; the error queue is resolved.
    """
    error_queue = invocation.recoverability.failed.error_queue or ""
    report_given_up(delivery, error_queue)
    settlement = forward_given_up(delivery, error_queue)
    return settlement if invocation.observer is None else invocation.observer.note_given_up(delivery, settlement)
