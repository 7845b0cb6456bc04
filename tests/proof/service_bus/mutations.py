"""List mistakes that the package does not make on Service Bus: a replaced function, the scenario that shows it, and the promise that it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from proof.mistakes import Mutation
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Forward
from recoverable._service_bus.answers import Failure
from recoverable._service_bus.senders import Broker
from recoverable._service_bus.wire import Copy
from recoverable.azure._settle import Letter, Sending, Way

send = Broker.send


def taken_for_sent(letters: list[Letter], sending: Sending, **_: Any) -> list[Letter]:
    """Take copies that could not be sent for sent."""
    sending.work.send([sending.copy(letter, letter.decided) for letter in letters])
    return []


def never_abandoned(*_: object) -> tuple[()]:
    """Complete messages that should be redelivered."""
    return ()


def with_counters(delivery: Delivery, number: str, namespace: str, to: str) -> str:
    """Give each delivery of the same original another identity."""
    native = delivery.message.native
    return f"{native.sequence_number}-{native.delivery_count}-{to}"


def the_original_s(delivery: Delivery, number: str, namespace: str, to: str) -> str:
    """Give the copy the id of its original; a queue accepts an id once only."""
    return str(delivery.message.native.message_id)


def the_number_alone(delivery: Delivery, number: str, namespace: str, to: str) -> str:
    """Give original and copy the same identity, because each queue counts from 1."""
    return "same"


def at_once(expires_at: datetime | None, forward: Forward, now: datetime) -> dict[str, Any]:
    """Send a copy without its delay."""
    return {}


def with_what_is_left(expires_at: datetime | None, forward: Forward, now: datetime) -> dict[str, Any]:
    """Delay a copy, and let it live no longer than its original would."""
    assert expires_at is not None
    life = expires_at.replace(tzinfo=now.tzinfo) - now
    due = {"scheduled_enqueue_time_utc": now + forward.delay} if forward.delay else {}
    return {**due, "time_to_live": min(life, forward.delay / 2) if forward.delay else life}


def not_carried(delivery: Delivery, *_: object) -> dict[str, str | None]:
    """Retry at once by a copy that does not carry the count."""
    return {"NServiceBus.MessageId": delivery.message.id, "NServiceBus.FLRetries": None}


def never(*args: object, **settings: object) -> bool:
    """Take no delivery for an unreported one."""
    return False


def no_smaller(copy: Copy) -> None:
    """Give up at once on a copy that is too large."""


def only_ours(properties: Mapping[str, Any], changes: Mapping[str, str | None]) -> dict[str, Any]:
    """Copy a message without the sender's properties."""
    kept = {name: value for name, value in properties.items() if name.startswith("NServiceBus")}
    return {name: value for name, value in {**kept, **changes}.items() if value is not None}


def send_twice(broker: Broker, *what: Any, **how: Any) -> list[Failure | None]:
    """Repeat each send."""
    send(broker, *what, **how)
    return send(broker, *what, **how)


def no_fallback(letter: Letter, *_: object) -> list[Way]:
    """Leave a copy that its queue refuses where it is, with its whole batch."""
    return [letter.decided]


def does_not_wait(*_: object) -> None:
    """Abandon a message at once whose delay is to be waited out in place."""


def counted_from_0(count: object) -> int:
    """Read Functions' delivery count as one of failed deliveries."""
    return int(str(count)) - 1


MUTATIONS = (
    Mutation("bus: unconfirmed sends count", "azure._settle.send_round", taken_for_sent, "bus: one message", "LOST"),
    Mutation("bus: never abandoned", "azure._settling.abandon", never_abandoned, "bus: one message", "LOST"),
    Mutation("bus: counters in identity", "azure._copies.identity", with_counters, "bus: duplicates detected in the error queue", "COPIES"),
    Mutation("bus: the original's identity", "azure._copies.identity", the_original_s, "bus: duplicates detected", "LOST"),
    Mutation("bus: one identity for all", "azure._copies.identity", the_number_alone, "bus: duplicates detected in the error queue", "LOST"),
    Mutation("bus: delay dropped", "azure._copies.timed", at_once, "bus: one message", "EARLY"),
    Mutation("bus: time to live too short", "azure._copies.timed", with_what_is_left, "bus: short time to live", "LOST"),
    Mutation("bus: count not carried", "_ladder.copy_headers.immediate_retry", not_carried, "bus: batch that retries at once", "ENDLESS"),
    Mutation("bus: no grace", "_ladder.delivery.UNREPORTED_ALLOWANCE", 0, "bus: one chance", "CONVICTED"),
    Mutation("bus: killers never reported", "_ladder.delivery.is_unreported", never, "bus: killer alone", "UNREPORTED"),
    Mutation("bus: too large given up", "_service_bus.senders.smaller", no_smaller, "bus: body at the limit", "UNREPORTED"),
    Mutation("bus: session dropped", "azure._copies.ARRAYS", {}, "bus: batch in sessions", "CHANGED"),
    Mutation("bus: properties dropped", "azure._copies.changed", only_ours, "bus: properties of all kinds", "CHANGED"),
    Mutation("bus: sent twice", "_service_bus.senders.Broker.send", send_twice, "bus: one message", "COPIES"),
    Mutation("bus: refused copies fall back nowhere", "azure._settle.ways", no_fallback, "bus: batch with a refused copy", "RUNS"),
    Mutation("bus: ordered sessions do not wait", "azure._settling.wait_in_place", does_not_wait, "bus: ordered session", "EARLY"),
    Mutation("bus: counted from 0", "azure._messages.delivered", counted_from_0, "bus: one message", "ATTEMPTS"),
)  # fmt: skip
