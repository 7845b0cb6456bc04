"""Count the attempts that a delivery stands for: arithmetic over the broker's count and what the message carries."""

from __future__ import annotations

from recoverable import headers
from recoverable._ladder.delivery import NOTHING_CARRIED, Carried
from recoverable._message import place

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recoverable._config import Immediate
    from recoverable._ladder.delivery import Counter, Delivery, Platform

UNREPORTED_ALLOWANCE = 2
"""Unreported deliveries before the policy is asked about them. Two allows for a healthy message batched with a crashing one."""


def carried_in(texts: Mapping[str, str]) -> Carried:
    """Return what headers carry; they are untrusted, and what cannot be read counts as absent."""
    if not texts:
        return NOTHING_CARRIED
    from recoverable._ladder.faults import FIRST_TO_TRIM  # noqa: PLC0415  # it brings `traceback`, and most messages come without headers

    return Carried(
        message_id=texts.get(headers.MESSAGE_ID, ""),
        time_sent=headers.read_date(texts, headers.TIME_SENT),
        prior_attempts=headers.read_count(texts, headers.PRIOR_ATTEMPTS),
        round=headers.read_count(texts, headers.DELAYED_RETRIES),
        delayed_retry_at=headers.read_date(texts, headers.DELAYED_RETRY_AT),
        first_delayed_retry_at=headers.read_date(texts, headers.FIRST_DELAYED_RETRY_AT),
        due_at=headers.read_date(texts, headers.DUE_AT),
        held_since=headers.read_date(texts, headers.HELD_SINCE),
        stopped=headers.STOPPED in texts,
        unreported=headers.UNREPORTED in texts,
        reported=headers.REPORTED in texts,
        refused_sends=headers.read_count(texts, headers.REFUSED_SENDS),
        attempts=headers.read_count(texts, headers.ATTEMPTS),
        first_failed_at=headers.read_date(texts, headers.FIRST_FAILED_AT),
        faults=tuple(name for name in texts if name.startswith(FIRST_TO_TRIM)),
    )


def carried_in_order(carried: Carried, *, refused_sends: int = 0) -> Carried:
    """Return what counts of it where messages are only redelivered, and the broker's count alone says where they are on the ladder."""
    return carried.__replace__(
        prior_attempts=0, round=0, due_at=None, held_since=None, stopped=False, unreported=False, reported=False,
        refused_sends=refused_sends,
    )  # fmt: skip


def restore_retry_state(delivery: Delivery, counter: Counter, max_immediate: int) -> None:
    """Restore the place on the ladder and the marks of a delivery from what the message carries and the broker counts."""
    limit = last_delivery_that_runs(delivery, counter, max_immediate)
    delivery.unreported, delivery.at_limit = is_unreported(delivery, limit), delivery.deliveries == limit
    delivery.suspect = delivery.deliveries > 1 or not delivery.originals_reported
    place(delivery.message, round=delivery.carried.round, attempt=failures(delivery, counter))


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
