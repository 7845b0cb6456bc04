"""Count the attempts that a delivery stands for: arithmetic over the broker's count and what the message carries."""

from __future__ import annotations

from recoverable._message import place
from recoverable.headers import (
    DELAYED_RETRIES,
    DUE_AT,
    HELD_SINCE,
    PRIOR_ATTEMPTS,
    REFUSED_SENDS,
    REPORTED,
    STOPPED,
    UNREPORTED,
    read_count,
    read_date,
)

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable._config import Immediate
    from recoverable._ladder.delivery import Counter, Delivery, Platform

UNREPORTED_ALLOWANCE = 2
"""Unreported deliveries before the policy is asked about them. Two allows for a healthy message batched with a crashing one."""


def restore_retry_state(delivery: Delivery, counter: Counter, max_immediate: int) -> None:
    """Restore attempts, round and marks of a delivery from what the message carries and the broker counts."""
    headers = delivery.message.headers
    delivery.prior_attempts = read_count(headers, PRIOR_ATTEMPTS)
    delivery.due_at, delivery.held_since = read_date(headers, DUE_AT), read_date(headers, HELD_SINCE)
    limit = last_delivery_that_runs(delivery, counter, max_immediate)
    delivery.unreported, delivery.at_limit = is_unreported(delivery, limit), delivery.deliveries == limit
    delivery.stopped, ended_unreported = STOPPED in headers, UNREPORTED in headers
    delivery.given_up = read_count(headers, REFUSED_SENDS) > 0
    delivery.originals_reported = REPORTED in headers or not (delivery.prior_attempts or ended_unreported)
    delivery.suspect = delivery.deliveries > 1 or not delivery.originals_reported
    place(delivery.message, round=read_count(headers, DELAYED_RETRIES), attempt=failures(delivery, counter))


def failures(delivery: Delivery, counter: Counter) -> int:
    """Return the failed attempts of this round, this one included: what the policy gets when the attempt fails."""
    return delivery.prior_attempts + (delivery.deliveries if counter == "native" else 1)


def unreported_failures(delivery: Delivery, counter: Counter) -> int:
    """Return the failed attempts of this round when the handler does not run now, for earlier deliveries were unreported."""
    return delivery.prior_attempts + (delivery.deliveries - 1 if counter == "native" else 1)


def is_retried_in_process(delivery: Delivery, immediate: Immediate, platform: Platform) -> bool:
    """True if a delivery's immediate retries are made by the invocation that it is in.

    A redelivery is left to the broker's count: the delivery before it may have ended its process in the middle of such retries.
    """
    return immediate.in_process and delivery.deliveries == 1 and not platform.redelivers_only


def is_unreported(delivery: Delivery, limit: int) -> bool:
    """True if more deliveries were made than the last one that runs."""
    return delivery.deliveries > limit


def last_delivery_that_runs(delivery: Delivery, counter: Counter, max_immediate: int) -> int:
    """Return the last delivery of this broker message at which its handler runs without asking the policy first.

    At least the first one runs: a setting that was lowered while copies carry more attempts is no unreported delivery.
    """
    allowed = max_immediate + 1 - delivery.prior_attempts
    if counter == "header":
        allowed = min(1, allowed)
    return max(1, allowed + UNREPORTED_ALLOWANCE)


def prior_attempts_of_deferral(delivery: Delivery) -> int:
    """Return the attempts that a deferral's copy carries: all made so far, this delivery being none."""
    return delivery.prior_attempts + delivery.deliveries - 1


def place_on_ladder(deliveries: int, *, max_immediate: int, max_delayed: int) -> tuple[int, int]:
    """Return round and delivery within it, where the broker's count alone says them (SQS FIFO); past the last attempt it is the last."""
    attempts_per_round = max_immediate + 1
    last = attempts_per_round * (max_delayed + 1)
    round_, before = divmod(min(deliveries, last) - 1, attempts_per_round)
    return round_, before + 1


def runs_left(deliveries: int, *, max_immediate: int, max_delayed: int) -> int:
    """Return how often a message that is only ever redelivered can come after this delivery, until it is past all attempts and the allowance."""
    return (max_immediate + 1) * (max_delayed + 1) + UNREPORTED_ALLOWANCE - deliveries


def is_past_the_ladder(deliveries: int, *, max_immediate: int, max_delayed: int) -> bool:
    """True if a message that is only ever redelivered came more often than all attempts and the allowance."""
    return runs_left(deliveries, max_immediate=max_immediate, max_delayed=max_delayed) < 0
