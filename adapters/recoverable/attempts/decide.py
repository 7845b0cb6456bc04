"""Decide what becomes of a message and report it: all of the failure side that both clouds share, imported when something first fails."""

from __future__ import annotations

from datetime import datetime

from recoverable.config import Recoverability
from recoverable.observe.log import report, report_undecided
from recoverable.recovery.decision import decide
from recoverable.recovery.delivery import Deferral, Delivery, Platform
from recoverable.recovery.settlement import Redeliver, Settlement


def decide_and_report(
    delivery: Delivery,
    event: BaseException | Deferral,
    *,
    recoverability: Recoverability,
    platform: Platform,
    now: datetime,
) -> Settlement:
    """Return the settlement of a delivery, and log it; what cannot be decided about is delivered again.

    Args:
        delivery: the message as it came.
        event: the failed attempt's exception, or the deferral.
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        now: the time.
    """
    try:
        decision = decide(delivery, event, recoverability=recoverability, platform=platform, now=now)
    except Exception as error:  # noqa: BLE001  # such as a failure that raises when it is asked what it is; it is logged
        report_undecided(delivery, error)
        return Redeliver(None)
    report(decision)
    return decision.settlement
