"""Decide about a message and log the decision.

This is the failure side that both clouds share. It is imported when something first fails.
"""

from __future__ import annotations

from datetime import datetime

from recoverable.config import Recoverability
from recoverable.observe.log import report, report_given_up, report_undecided
from recoverable.recovery.decision import decide
from recoverable.recovery.delivery import Deferral, Delivery, Platform
from recoverable.recovery.refused_sends import forward_given_up
from recoverable.recovery.settlement import Redeliver, Settlement


def decide_and_report(
    delivery: Delivery,
    event: BaseException | Deferral,
    *,
    recoverability: Recoverability,
    platform: Platform,
    now: datetime,
) -> Settlement:
    """Return the settlement of a delivery, and log it; where the decision itself raises, the message is redelivered.

    Args:
        delivery: the delivery.
        event: the failed attempt's exception, or the deferral.
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        now: the time.
    """
    try:
        decision = decide(delivery, event, recoverability=recoverability, platform=platform, now=now)
    except Exception as error:  # noqa: BLE001  # logged; such as for an exception that raises when it is read
        report_undecided(delivery, error)
        return Redeliver(None)
    report(decision)
    return decision.settlement


def send_on(delivery: Delivery, *, recoverability: Recoverability) -> Settlement:
    """Return the settlement of a message that was given up earlier, and log it; its handler does not run.

    Args:
        delivery: the delivery; its `given_up` is True.
        recoverability: the settings, the error queue resolved.
    """
    error_queue = recoverability.failed.error_queue or ""
    report_given_up(delivery, error_queue)
    return forward_given_up(delivery, error_queue)
