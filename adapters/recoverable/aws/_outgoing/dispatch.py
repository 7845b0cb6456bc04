"""Send what the handlers of a group sent, once they have succeeded, and settle their messages by what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from recoverable._flow.outcomes import settle_failure, settle_on_end
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.refused_sends import pauses
from recoverable._outgoing.unsent import settle_unsent
from recoverable._outgoing.values import OutgoingRefused
from recoverable._sqs.answers import Failure, describe_error
from recoverable._sqs.broker import Broker
from recoverable._sqs.operations import PUBLISH, SEND
from recoverable._sqs.topics import Topic
from recoverable.aws._copies import MAX_ENTRIES
from recoverable.aws._outgoing.entries import Destination, Letter, most_bytes
from recoverable.aws._outgoing.fitting import OUT_OF_TIME, TOO_MUCH, is_at_fault, leaves_time_to_settle, out_of_time

if TYPE_CHECKING:
    from recoverable._environment import Environment
    from recoverable._flow.invocation import Invocation
    from recoverable._sqs.queues import Queue
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.timeouts import Timeouts

ABOUT_DESTINATION = (
    "nonexistent",
    "notfound",
    "not found",
    "accessdenied",
    "access denied",
    "authorization",
    "kms",
    "disabled",
)
"""Parts of the texts, in lower case, by which AWS refuses a destination and not an entry ("Common errors", Amazon SQS and SNS API references)."""

MORE_THAN_TIME = "no time was left for '{to}': what the handler sent takes more time than its invocation has; raise the function's time-out, or send less at a time"


class Item(NamedTuple):
    """A letter, and the delivery whose handler wrote it."""

    delivery: Delivery
    letter: Letter


Failures = dict[Delivery, tuple[Letter, Failure]]


def send_outgoing(
    invocation: Invocation, queue: Queue, environment: Environment, time: TimeBudget, timeouts: Timeouts | None
) -> None:
    """Send what the invocation's handlers sent so far, and note on each delivery what follows.

    Args:
        invocation: has the deliveries and what was collected for them.
        queue: where they came from.
        environment: has the client.
        time: the invocation's.
        timeouts: where messages are stored whose delay SQS cannot do.
    """
    waiting, invocation.outgoing = invocation.outgoing, []
    items = [Item(delivery, letter) for delivery, outbox, _ in waiting for letter in outbox.close()]
    failures = send_all(items, Broker(queue, environment, time), timeouts)
    for delivery, _, seconds in waiting:
        if delivery not in failures:
            invocation.settle(delivery, settle_on_end(delivery, seconds, invocation))
            continue
        letter, failure = failures[delivery]
        at_fault = is_at_fault(delivery, failure, invocation)
        if at_fault or failure.kind in {"refused", "size"}:
            delivery.error = OutgoingRefused(
                MORE_THAN_TIME.format(to=letter.to.name) if at_fault else describe_refusal(letter.to, failure)
            )
            invocation.settle(delivery, settle_failure(delivery, delivery.error, invocation))
        elif queue.fifo:
            from recoverable.aws._fifo.unsent import settle_unsent_in_group  # noqa: PLC0415  # for such queues

            settlement = settle_unsent_in_group(
                delivery, letter.to.name, failure.reason, invocation, function_timeout=time.total
            )
            invocation.settle(delivery, settlement)
        else:
            first = failure in {OUT_OF_TIME, TOO_MUCH}
            settlement = settle_unsent(delivery, letter.to.name, failure.reason, invocation, runs_first=first)
            invocation.settle(delivery, settlement)


def describe_refusal(to: Destination, failure: Failure) -> str:
    """Return the text of the error: which destination refused, why, and which permission sending needs."""
    kind, permission = ("topic", "sns:Publish") if isinstance(to, Topic) else ("queue", "sqs:SendMessage")
    return f"the {kind} '{to.name}' refused an outgoing message ({failure.reason}); check that it exists, and that the function has the permission {permission} on it"


def send_all(items: list[Item], broker: Broker, timeouts: Timeouts | None) -> Failures:
    """Send the letters by destination; return the deliveries of which one was not sent, with the first such letter.

    After a failure nothing more of the same delivery is sent: its handler runs again, and would send it once more.
    """
    failures: Failures = {}
    by_destination: dict[Destination, list[Item]] = {}
    for item in items:
        if item.letter.stored is None:
            by_destination.setdefault(item.letter.to, []).append(item)
        elif item.delivery not in failures and (failure := store(item.letter, broker, timeouts)):
            failures[item.delivery] = item.letter, failure
    for together in by_destination.values():
        send_to_one(together, failures, broker)
    return failures


def send_to_one(items: list[Item], failures: Failures, broker: Broker) -> None:
    """Send the letters to one destination, and note the deliveries of which one was not sent."""
    while items := [item for item in items if item.delivery not in failures]:
        if not leaves_time_to_settle(broker.time):
            failure = out_of_time([item.letter for item in items], broker.time)
            for item in items:
                failures.setdefault(item.delivery, (item.letter, failure))
            return
        batch = next_batch(items)
        for number, failure in send_batch(batch, broker).items():
            failures.setdefault(batch[number].delivery, (batch[number].letter, failure))
        items = without(items, batch)


def without(items: list[Item], batch: list[Item]) -> list[Item]:
    """Return the items that are not in the batch, in their order."""
    sent = {id(item) for item in batch}
    return [item for item in items if id(item) not in sent]


def next_batch(waiting: list[Item]) -> list[Item]:
    """Return what the next call takes, all to one destination: ten entries, and 1 MiB or SNS's 256 KB.

    Of a message group it takes one, for SQS may take an entry behind one that it refuses, and the order would be lost.
    """
    most = most_bytes(waiting[0].letter.to)
    batch: list[Item] = []
    groups: set[str] = set()
    total = 0
    for item in waiting:
        group = item.letter.group
        if group in groups:
            continue
        if len(batch) == MAX_ENTRIES or total + item.letter.weight > most:
            break
        batch.append(item)
        total += item.letter.weight
        if group is not None:
            groups.add(group)
    return batch


def send_batch(batch: list[Item], broker: Broker) -> dict[int, Failure]:
    """Send a batch, again after growing pauses where the broker is busy; return the failures by number."""
    failures = send_once(batch, broker)
    for pause in pauses(broker.time.pauses_left):
        busy = [number for number, failure in failures.items() if failure.kind == "busy"]
        if not busy or not broker.wait(pause):
            break
        again = send_once([batch[number] for number in busy], broker)
        failures = {n: each for n, each in failures.items() if n not in busy} | {
            busy[n]: each for n, each in again.items()
        }
    return failures


def send_once(batch: list[Item], broker: Broker) -> dict[int, Failure]:
    """Send a batch by one call; where it is refused as a whole for one of its entries, each alone."""
    to = batch[0].letter.to
    operation = PUBLISH if isinstance(to, Topic) else SEND
    failures, as_a_whole = broker.call(operation, to, [item.letter.entry for item in batch])
    if not as_a_whole or len(batch) == 1 or failures[0].kind not in {"refused", "size"}:
        return failures
    if any(part in failures[0].reason.lower() for part in ABOUT_DESTINATION):
        return failures
    alone = {n: send_once([item], broker).get(0) for n, item in enumerate(batch)}
    return {n: failure for n, failure in alone.items() if failure is not None}


def store(letter: Letter, broker: Broker, timeouts: Timeouts | None) -> Failure | None:
    """Store a letter until it is due; return why that failed, or None."""
    from recoverable.timeouts import TooLarge  # noqa: PLC0415  # for those who store

    if timeouts is None or letter.stored is None or not leaves_time_to_settle(broker.time):
        return OUT_OF_TIME
    queue, due_at = letter.stored
    try:
        timeouts.hold(letter.entry, to=queue, at=due_at, key=letter.identity)
    except TooLarge as error:
        return Failure("size", str(error))
    except Exception as error:  # noqa: BLE001  # logged as the reason why the message waits
        return Failure("busy", describe_error(error))
    return None
