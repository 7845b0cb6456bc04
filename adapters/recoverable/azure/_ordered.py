"""Keep the order of sessions: a message is only ever redelivered, and the last attempt of a round waits out the delay in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recoverable._ladder.delivery import is_past_the_ladder, place_on_ladder
from recoverable._message import place

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from recoverable._config import Delayed, Recoverability
    from recoverable._ladder.delivery import Delivery
    from recoverable.hosting import Environment


def restore_place(delivery: Delivery, recoverability: Recoverability) -> None:
    """Restore round and attempt from the broker's count, which alone says them."""
    ladder = {"max_immediate": recoverability.immediate.max_retries, "max_delayed": recoverability.delayed.max_retries}
    delivery.unreported = is_past_the_ladder(delivery.deliveries, **ladder)
    round_, attempt = place_on_ladder(delivery.deliveries, **ladder)
    place(delivery.message, round=round_, attempt=attempt)
    delivery.deliveries = attempt


def check_delays(delayed: Delayed, longest: timedelta) -> None:
    """Check that an invocation can wait out each configured delay.

    Raises:
        ValueError: it cannot.
    """
    from recoverable._ladder.policy import configured_delay  # noqa: PLC0415  # for ordered sessions alone

    delays = [configured_delay(delayed, number, "") for number in range(delayed.max_retries)]
    if delays and max(delays) > longest:
        raise ValueError(
            f'ServiceBusEndpoint(sessions="ordered") waits out each delay inside the invocation, for {longest} at most as host.json has '
            f"functionTimeout and maxAutoLockRenewalDuration, and Delayed(...) has a delay of {max(delays)}; "
            "write shorter delays, or raise both in host.json"
        )


def wait_in_place(delay: timedelta, *, environment: Environment, until: datetime) -> None:
    """Wait out a delay, or as much of it as the invocation has time for.

    Args:
        delay: the delay.
        environment: has the clock and what waits.
        until: the latest time at which the message must be abandoned.
    """
    seconds = min(delay, until - environment.clock()).total_seconds()
    if seconds > 0:
        environment.sleep(seconds)
