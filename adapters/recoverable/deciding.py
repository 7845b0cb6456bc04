"""The door to the failure side: decides, says what was decided, and sees that a decision that fails costs no other message anything."""

from __future__ import annotations

from datetime import datetime

from .config import Recoverability
from .delivery import Deferral, Delivery, Platform
from .observe import report, report_undecided
from .recovery import decide
from .settlements import Redeliver, Settlement


def decided(
    delivery: Delivery,
    event: BaseException | Deferral,
    *,
    recoverability: Recoverability,
    platform: Platform,
    now: datetime,
) -> Settlement:
    """The settlement of a delivery; see `recovery.decide`. What cannot be decided about is delivered again."""
    try:
        decision = decide(delivery, event, recoverability=recoverability, platform=platform, now=now)
    except Exception as error:  # noqa: BLE001  # such as a failure that raises when it is asked what it is; it is told
        report_undecided(delivery, error)
        return Redeliver(None)
    report(decision)
    return decision.settlement
