"""Mistakes that the package does not make on Service Bus: each one a replaced function, the scenario that shows it, and the promise that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from proof.mistakes import Mutation
from recoverable.azure.client import Broker
from recoverable.azure.copies import Copy
from recoverable.azure.flow import Forwards
from recoverable.recovery.delivery import Delivery
from recoverable.recovery.settlement import Forward

send = Broker.send


def taken_for_sent(forwards: Forwards, send: Callable[[Forwards], None]) -> None:
    """A copy that could not be sent is taken for sent."""
    with suppress(Exception):
        send(forwards)


def never_abandoned(delivery: Delivery) -> Forwards:
    """What is to be redelivered is completed."""
    return [(delivery, delivery.settlement)] if isinstance(delivery.settlement, Forward) else []


def with_counters(delivery: Delivery, namespace: str, to: str) -> str:
    """Another identity for each delivery of the same original."""
    native = delivery.message.native
    return f"{native.sequence_number}-{native.delivery_count}-{to}"


def the_original_s(delivery: Delivery, namespace: str, to: str) -> str:
    """A copy that keeps the id of its original, which a queue takes once only."""
    return str(delivery.message.native.message_id)


def the_number_alone(delivery: Delivery, namespace: str, to: str) -> str:
    """An identity that original and copy can share, for each queue counts from 1."""
    return "same"


def at_once(expires_at: datetime | None, forward: Forward, now: datetime) -> dict[str, Any]:
    """A copy that does not wait."""
    return {}


def with_what_is_left(expires_at: datetime | None, forward: Forward, now: datetime) -> dict[str, Any]:
    """A copy that waits, and lives no longer than its original would."""
    assert expires_at is not None
    life = expires_at.replace(tzinfo=now.tzinfo) - now
    due = {"scheduled_enqueue_time_utc": now + forward.delay} if forward.delay else {}
    return {**due, "time_to_live": min(life, forward.delay / 2) if forward.delay else life}


def not_carried(delivery: Delivery) -> dict[str, str | None]:
    """An immediate retry by a copy that does not carry the count."""
    return {"NServiceBus.MessageId": delivery.message.id, "NServiceBus.FLRetries": None}


def never(*args: object, **settings: object) -> bool:
    """No delivery is ever taken for one without a word."""
    return False


def untrimmed(properties: dict[str, Any], room: int) -> None:
    """Fault headers stay as long as they are."""


def no_smaller(copy: Copy) -> None:
    """A copy that is too large is given up at once."""


def only_ours(properties: Mapping[str, Any], changes: Mapping[str, str | None]) -> dict[str, Any]:
    """A copy without the sender's properties."""
    kept = {name: value for name, value in properties.items() if name.startswith("NServiceBus")}
    return {name: value for name, value in {**kept, **changes}.items() if value is not None}


def send_twice(broker: Broker, copies: list[Copy]) -> None:
    """Each send is repeated."""
    send(broker, copies)
    send(broker, copies)


def counted_from_0(count: object) -> int:
    """Functions' count is taken for one of failed deliveries."""
    return int(str(count)) - 1


MUTATIONS = (
    Mutation("bus: unconfirmed sends count", "azure.flow.try_to_send", taken_for_sent, "bus: one message", "LOST"),
    Mutation("bus: never abandoned", "azure.flow.forwarded", never_abandoned, "bus: one message", "LOST"),
    Mutation("bus: counters in identity", "azure.copies.identity", with_counters, "bus: duplicates detected in the error queue", "COPIES"),
    Mutation("bus: the original's identity", "azure.copies.identity", the_original_s, "bus: duplicates detected", "LOST"),
    Mutation("bus: one identity for all", "azure.copies.identity", the_number_alone, "bus: duplicates detected in the error queue", "LOST"),
    Mutation("bus: delay dropped", "azure.copies.timed", at_once, "bus: one message", "EARLY"),
    Mutation("bus: time to live too short", "azure.copies.timed", with_what_is_left, "bus: short time to live", "LOST"),
    Mutation("bus: count not carried", "recovery.copy_headers.immediate_retry", not_carried, "bus: batch that retries at once", "ENDLESS"),
    Mutation("bus: no grace", "recovery.counting.UNREPORTED_ALLOWANCE", 0, "bus: one chance", "CONVICTED"),
    Mutation("bus: killers never reported", "recovery.counting.is_unreported", never, "bus: killer alone", "UNREPORTED"),
    Mutation("bus: fault headers not trimmed", "azure.copies.fit", untrimmed, "bus: properties at the limit", "RUNS"),
    Mutation("bus: too large given up", "azure.client.smaller", no_smaller, "bus: body at the limit", "UNREPORTED"),
    Mutation("bus: session dropped", "azure.copies.ARRAYS", {}, "bus: batch in sessions", "UNREPORTED"),
    Mutation("bus: properties dropped", "azure.copies.changed", only_ours, "bus: properties of all kinds", "CHANGED"),
    Mutation("bus: sent twice", "azure.client.Broker.send", send_twice, "bus: one message", "COPIES"),
    Mutation("bus: counted from 0", "azure.messages.delivered", counted_from_0, "bus: one message", "ATTEMPTS"),
)  # fmt: skip
