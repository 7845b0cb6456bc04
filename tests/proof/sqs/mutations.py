"""Mistakes that the package does not make on SQS: each one a replaced function, the scenario that shows it, and the promise that it breaks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from proof.mistakes import Mutation
from recoverable.aws import client
from recoverable.aws.client import Broker
from recoverable.aws.copies import Copy
from recoverable.aws.queues import Queue
from recoverable.recovery.delivery import Delivery, Platform
from recoverable.recovery.settlement import Forward

Attributes = dict[str, dict[str, Any]]
Changes = dict[str, str | None]

send = Broker.send


def delete_first(batch: list[Copy], broker: Broker) -> list[Delivery]:
    """Complete before send."""
    broker.delete([copy.delivery for copy in batch])
    sent = broker.send(batch)
    return [copy.delivery for copy in batch if copy.delivery not in sent]


def trust_the_broker(batch: list[Copy], broker: Broker) -> list[Delivery]:
    """Take each copy for sent."""
    broker.send(batch)
    broker.delete([copy.delivery for copy in batch])
    return []


def report_nothing(left: list[Delivery]) -> dict[str, list[Any]]:
    """An answer that says that all went well."""
    return {"batchItemFailures": []}


def by_id(delivery: Delivery) -> str:
    """A key that sorts as the order of the design does, before it is turned."""
    return delivery.message.id


def all_at_once(deliveries: list[Delivery], *, fifo: bool) -> list[list[Delivery]]:
    """Neighbours are not settled before what was delivered before runs, only when everything has run."""
    fresh = [delivery for delivery in deliveries if delivery.deliveries == 1]
    return [fresh + in_fixed_order([delivery for delivery in deliveries if delivery.deliveries > 1])]


def in_fixed_order(deliveries: list[Delivery]) -> list[Delivery]:
    """The same message always runs first."""
    return sorted(deliveries, key=by_id)


def in_alternating_order(deliveries: list[Delivery]) -> list[Delivery]:
    """Forwards and backwards in turn, so that only the two ends ever run first."""
    turn = max(delivery.deliveries + delivery.prior_attempts + delivery.message.round for delivery in deliveries)
    return sorted(deliveries, key=by_id, reverse=turn % 2 == 1)


def with_one_too_many(delivery: Delivery) -> int:
    """A deferral that counts itself as an attempt."""
    return delivery.prior_attempts + delivery.deliveries


def with_one_too_few(delivery: Delivery) -> int:
    """A deferral that forgets an attempt."""
    return max(delivery.prior_attempts + delivery.deliveries - 2, 0)


def identity_with_counters(delivery: Delivery, source: Queue, to: Queue) -> str:
    """Another identity for each delivery of the same original."""
    native = delivery.message.native
    return f"{native['messageId']}-{native['attributes']['ApproximateReceiveCount']}"


def not_carried(delivery: Delivery) -> dict[str, str | None]:
    """An immediate retry by a copy that does not carry the count."""
    return {"NServiceBus.MessageId": delivery.message.id, "NServiceBus.FLRetries": None}


def never(*args: object, **settings: object) -> bool:
    """No delivery is ever taken for one without a word."""
    return False


def not_held_back(delivery: Delivery, unfinished: list[Delivery]) -> bool:
    """What follows a failure in its group runs all the same."""
    return False


def without_delay(delivery: Delivery, forward: Forward, source: Queue, to: Queue) -> dict[str, Any]:
    """A copy that does not wait."""
    return {"DelaySeconds": 0}


def without_due_date(
    to: str, delay: timedelta, changes: Changes, platform: Platform, now: datetime, due_at: object = None
) -> Forward:
    """A copy that waits for as long as the broker can, and not until it is due."""
    return Forward(to, min(delay, platform.longest_delay or delay), {**changes, "Recoverable.DueAt": None})


def send_twice(broker: Broker, batch: list[Copy]) -> list[Delivery]:
    """Each send is repeated, as an SDK does that retries by itself."""
    Broker._call(broker, client.SEND, batch[0].to, [(copy.delivery, copy.entry) for copy in batch])
    return send(broker, batch)


def without_overflow(attributes: Attributes, room: int) -> tuple[Attributes, dict[str, str]]:
    """What has no room among ten attributes is left out."""
    return {name: attributes[name] for name in list(attributes)[:room]}, {}


MUTATIONS = (
    Mutation("complete before send", "aws.settle.send_and_delete", delete_first, "one message", "LOST"),
    Mutation("unconfirmed sends count", "aws.settle.send_and_delete", trust_the_broker, "one message", "LOST"),
    Mutation("nothing is reported", "aws.endpoint.response", report_nothing, "one message", "LOST"),
    Mutation("neighbours not settled", "aws.batch.groups", all_at_once, "killer in the middle", "CONVICTED"),
    Mutation("fixed order", "aws.order.rotated", in_fixed_order, "two killers", "CONVICTED"),
    Mutation("alternating order", "aws.order.rotated", in_alternating_order, "two killers", "CONVICTED"),
    Mutation("deferral counts", "recovery.counting.prior_attempts_of_deferral", with_one_too_many, "little time", "ATTEMPTS"),
    Mutation("deferral forgets", "recovery.counting.prior_attempts_of_deferral", with_one_too_few, "little time", "RUNS"),
    Mutation("counters in identity", "aws.copies.identity", identity_with_counters, "FIFO error queue", "COPIES"),
    Mutation("count not carried", "recovery.copy_headers.immediate_retry", not_carried, "header counter", "ENDLESS"),
    Mutation("no grace", "recovery.counting.UNREPORTED_ALLOWANCE", 0, "killer in the middle", "CONVICTED"),
    Mutation("killers never reported", "recovery.counting.is_unreported", never, "killer first", "UNREPORTED"),
    Mutation("delay dropped", "aws.copies.addressed", without_delay, "one message", "EARLY"),
    Mutation("due date dropped", "recovery.decision.delayed_copy", without_due_date, "hopping", "EARLY"),
    Mutation("sent twice", "aws.client.Broker.send", send_twice, "one message", "COPIES"),
    Mutation("overflow dropped", "aws.copies.folded", without_overflow, "ten attributes", "CHANGED"),
    Mutation("not held back", "aws.batch.must_keep_order", not_held_back, "FIFO batch", "ORDER"),
)  # fmt: skip
