"""List mistakes that the package does not make on SQS: a replaced function, the scenario that shows it, and the promise that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from proof.mistakes import Mutation
from recoverable import Message
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Forward, Platform
from recoverable._sqs.answers import Failure, was_reset
from recoverable._sqs.batches import BatchOperation, Entry
from recoverable._sqs.broker import Broker
from recoverable._sqs.clients import RenewingClient
from recoverable._sqs.names import Destination
from recoverable._sqs.queues import Queue
from recoverable.aws._batch import Batch
from recoverable.aws._copies import Copy
from recoverable.aws._settle import delete
from recoverable.aws._settle import send as send_copies

Attributes = dict[str, dict[str, Any]]
Changes = dict[str, str | None]

send, call = Broker.send, RenewingClient._call_once


def delete_first(copies: list[Copy], batch: Batch) -> list[Delivery]:
    """Complete before send."""
    delete([copy.delivery for copy in copies], batch)
    return [copies[number].delivery for number in send_copies(copies, batch)]


def trust_the_broker(copies: list[Copy], batch: Batch) -> list[Delivery]:
    """Take each copy for sent."""
    send_copies(copies, batch)
    delete([copy.delivery for copy in copies], batch)
    return []


def report_nothing(left: list[Delivery]) -> dict[str, list[Any]]:
    """Answer that all went well."""
    return {"batchItemFailures": []}


def all_at_once(batch: Batch, _: object) -> list[tuple[list[Message], bool]]:
    """Run all together, and settle when everything has run."""
    return [(batch.messages, True)]


def with_one_too_many(delivery: Delivery) -> int:
    """Count the deferral itself as an attempt."""
    return delivery.prior_attempts + delivery.deliveries


def with_one_too_few(delivery: Delivery) -> int:
    """Forget an attempt at a deferral."""
    return max(delivery.prior_attempts + delivery.deliveries - 2, 0)


def identity_with_counters(delivery: Delivery, source: Queue, to: Queue) -> str:
    """Give each delivery of the same original another identity."""
    native = delivery.message.native
    return f"{native['messageId']}-{native['attributes']['ApproximateReceiveCount']}"


def not_carried(delivery: Delivery, *_: object) -> dict[str, str | None]:
    """Retry at once by a copy that does not carry the count."""
    return {"NServiceBus.MessageId": delivery.message.id, "NServiceBus.FLRetries": None}


def never(*args: object, **settings: object) -> bool:
    """Take no delivery for an unreported one."""
    return False


def not_held_back(delivery: Delivery, unfinished: list[Delivery]) -> bool:
    """Run what follows a failure in its group."""
    return False


def no_wait(*_: object) -> None:
    """Let a round start whenever the count says so."""


def without_delay(delivery: Delivery, forward: Forward, source: Queue, to: Queue) -> dict[str, Any]:
    """Send a copy without its delay."""
    return {"DelaySeconds": 0}


def without_due_date(
    to: str, delay: timedelta, changes: Changes, platform: Platform, now: datetime, due_at: object = None
) -> Forward:
    """Delay a copy for as long as the broker can, and not until it is due."""
    return Forward(to, min(delay, platform.longest_delay or delay), {**changes, "Recoverable.DueAt": None})


def send_twice(
    broker: Broker,
    operation: BatchOperation,
    to: Destination,
    entries: Sequence[Entry],
    pauses: Callable[[float], Iterable[float]],
) -> dict[int, Failure]:
    """Repeat each send, as an SDK that retries by itself."""
    broker.call(operation, to, entries)
    return send(broker, operation, to, entries, pauses)


def repeat_under_new_ids(client: RenewingClient, method: Callable[..., Any], *args: Any, **request: Any) -> Any:
    """Make a call again after a reset, as another one."""
    try:
        return call(client, method, *args, **request)
    except Exception as error:
        if not was_reset(error):
            raise
    entries = [{**entry, "MessageDeduplicationId": f"again-{n}"} for n, entry in enumerate(request["Entries"])]
    return call(client, method, *args, **{**request, "Entries": entries})


def without_overflow(attributes: Attributes, room: int) -> tuple[Attributes, dict[str, str]]:
    """Leave out what has no room among ten attributes."""
    return {name: attributes[name] for name in list(attributes)[:room]}, {}


def no_seconds(*_: object) -> int:
    """Take each message for hidden as long as its queue says."""
    return 0


def everything(_watch: object, deliveries: list[Delivery]) -> list[Delivery]:
    """Settle what was settled beside a handler once more."""
    return deliveries


MUTATIONS = (
    Mutation("complete before send", "aws._settle.send_and_delete", delete_first, "one message", "LOST"),
    Mutation("unconfirmed sends count", "aws._settle.send_and_delete", trust_the_broker, "one message", "LOST"),
    Mutation("nothing is reported", "aws._endpoint.response", report_nothing, "one message", "LOST"),
    Mutation("neighbours not settled", "aws._groups.groups_of", all_at_once, "killer in the middle", "CONVICTED"),
    Mutation("the endangered are not handed back", "aws._order.is_tried_alone", never, "two killers", "CONVICTED"),
    Mutation("deferral counts", "_ladder.copy_headers.prior_attempts_of_deferral", with_one_too_many, "little time", "ATTEMPTS"),
    Mutation("deferral forgets", "_ladder.copy_headers.prior_attempts_of_deferral", with_one_too_few, "little time", "RUNS"),
    Mutation("counters in identity", "aws._copies.identity", identity_with_counters, "FIFO error queue", "COPIES"),
    Mutation("count not carried", "_ladder.copy_headers.immediate_retry", not_carried, "header counter", "ENDLESS"),
    Mutation("count of retries in process not carried", "_ladder.copy_headers.immediate_retry", not_carried, "in process with little time", "RUNS"),
    Mutation("no grace", "_ladder.delivery.UNREPORTED_ALLOWANCE", 0, "one chance", "CONVICTED"),
    Mutation("killers never reported", "_ladder.delivery.is_unreported", never, "killer first", "UNREPORTED"),
    Mutation("delay dropped", "aws._copies.addressed", without_delay, "one message", "EARLY"),
    Mutation("due date dropped", "_ladder.decision.delayed_copy", without_due_date, "hopping", "EARLY"),
    Mutation("sent twice", "_sqs.broker.Broker.send", send_twice, "one message", "COPIES"),
    Mutation("reset and repeated under new ids", "_sqs.clients.RenewingClient._call_once", repeat_under_new_ids, "FIFO error queue", "COPIES"),
    Mutation("overflow dropped", "_sqs.wire.folded", without_overflow, "ten attributes", "CHANGED"),
    Mutation("FIFO rounds never wait", "aws._fifo.wait", no_wait, "FIFO killer with long delays", "EARLY"),
    Mutation("what ends its process expires", "aws._fifo.settle_expiring", no_wait, "FIFO killer whose runs outlast the retention", "LOST"),
    Mutation("heartbeat not reckoned with", "_observe.parts.Parts.hides_for", no_seconds, "FIFO killer under a heartbeat", "EARLY"),
    Mutation("settled beside a handler and after it", "aws._managed.Watch.claim", everything, "managed instances, one hangs", "COPIES"),
    Mutation("not held back", "aws._fifo.must_keep_order", not_held_back, "FIFO batch", "ORDER"),
)  # fmt: skip
