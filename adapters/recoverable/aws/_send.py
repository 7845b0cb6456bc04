"""Send what the handlers of a group sent, once they have succeeded and while time is left for settling, and settle their messages by what became of it."""

from __future__ import annotations

import os
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from recoverable._errors import TooLarge
from recoverable._flow.refusals import is_refused_for_good, settle_unknown
from recoverable._flow.settle import settle_failure, settle_on_end, settle_unsent
from recoverable._ladder.backoff import MOST_REDELIVERY, pauses
from recoverable._message import outgoing
from recoverable._outgoing.message import OutgoingRefused
from recoverable._sqs.answers import Failure, describe_error
from recoverable._sqs.batches import MAX_ENTRIES, PUBLISH, SEND, first_batch
from recoverable._sqs.clients import client
from recoverable._sqs.names import Destination, Topic
from recoverable.aws._fifo import settle_unsent_in_group
from recoverable.aws._outgoing import Letter, batch_bytes
from recoverable.aws._time_budget import CALLS, USUAL_CALL, TimeBudget

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable.aws._batch import Batch

MORE_THAN_TIME = "no time was left for '{to}': what the handler sent takes more time than its invocation has; raise the function's time-out, or send less at a time"


class NotTried(NamedTuple):
    """The failure of what is not sent, so that there is still time to say so.

    Args:
        why: "out_of_time" after a slow call, "too_much" for more than would fit without one.
        reason: for the log.
    """

    why: Literal["out_of_time", "too_much"]
    reason: str


OUT_OF_TIME = NotTried("out_of_time", "no time is left for it beside settling")
TOO_MUCH = NotTried("too_much", "it is too much for the time that is left")


class Item(NamedTuple):
    """A letter, and the delivery whose handler wrote it."""

    delivery: Delivery
    letter: Letter

    @property
    def to(self) -> Destination:
        """Return where the letter goes."""
        return self.letter.to

    @property
    def weight(self) -> int:
        """Return the bytes of the letter."""
        return self.letter.weight


Failures: TypeAlias = "dict[Delivery, tuple[Letter, Failure | NotTried]]"


def warm_up(settle_within: timedelta) -> None:
    """Read what sends, and make the SQS client of the function's region, before the first invocation."""
    outgoing()
    if region := os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        client("sqs", region, TimeBudget(None, settle_within).call_timeout)


def send_outgoing(batch: Batch) -> None:
    """Send what the handlers of a batch sent so far, and record the settlement of each of their messages."""
    invocation = batch.invocation
    waiting, invocation.outgoing = invocation.outgoing, []
    items = [Item(delivery, letter) for delivery, outbox, _ in waiting for letter in outbox.close()]
    failures = send_all(items, batch) if items else {}
    for delivery, _, seconds in waiting:
        if delivery not in failures:
            invocation.settle(delivery, settle_on_end(delivery, seconds, invocation))
            continue
        letter, failure = failures[delivery]
        at_fault = is_at_fault(delivery, failure, invocation)
        if at_fault or (isinstance(failure, Failure) and failure.is_for_good):
            text = MORE_THAN_TIME.format(to=letter.to.name) if at_fault else describe_refusal(letter.to, failure.reason)
            delivery.error = OutgoingRefused(text)
            invocation.settle(delivery, settle_failure(delivery, delivery.error, invocation))
        elif batch.queue.fifo:
            invocation.settle(delivery, settle_unsent_in_group(delivery, letter.to.name, failure.reason, batch))
        else:
            first, unknown = isinstance(failure, NotTried), isinstance(failure, Failure) and failure.kind == "unknown"
            settle = settle_unknown if unknown else partial(settle_unsent, runs_first=first)
            invocation.settle(delivery, settle(delivery, letter.to.name, failure.reason, invocation))


def describe_refusal(to: Destination, reason: str) -> str:
    """Return the text of the error: which destination refused, why, and which permission sending needs."""
    kind, permission = ("topic", "sns:Publish") if isinstance(to, Topic) else ("queue", "sqs:SendMessage")
    return f"the {kind} '{to.name}' refused an outgoing message ({reason}); check that it exists, and that the function has the permission {permission} on it"


def send_all(items: list[Item], batch: Batch) -> Failures:
    """Send the letters by destination; return the deliveries of which one was not sent, with the first such letter.

    After a failure nothing more of the same delivery is sent: its handler runs again, and would send it once more.
    """
    failures: Failures = {}
    by_destination: dict[Destination, list[Item]] = {}
    for item in items:
        if item.letter.stored is None:
            by_destination.setdefault(item.to, []).append(item)
        elif item.delivery not in failures and (failure := store(item.letter, batch)):
            failures[item.delivery] = item.letter, failure
    for together in by_destination.values():
        send_to_one(together, failures, batch)
    return failures


def send_to_one(items: list[Item], failures: Failures, batch: Batch) -> None:
    """Send the letters to one destination, and note the deliveries of which one was not sent."""
    to, time = items[0].to, batch.time
    operation = PUBLISH if isinstance(to, Topic) else SEND
    while items := [item for item in items if item.delivery not in failures]:
        if not leaves_time_to_settle(time):
            left = out_of_time([item.letter for item in items], time)
            for item in items:
                failures.setdefault(item.delivery, (item.letter, left))
            return
        together, now = next_batch(items), batch.invocation.clock()
        is_over = all(is_refused_for_good(item.delivery, to.name, now) for item in together)
        entries = [item.letter.entry for item in together]
        for number, failure in batch.broker.send(operation, to, entries, no_pauses if is_over else pauses).items():
            failures.setdefault(together[number].delivery, (together[number].letter, failure))
        sent = {id(item) for item in together}
        items = [item for item in items if id(item) not in sent]


def no_pauses(_: float) -> tuple[float, ...]:
    """Return no pauses: what nobody knows has lasted too long for a repetition."""
    return ()


def next_batch(waiting: list[Item]) -> list[Item]:
    """Return what the next call takes, all to one destination: ten entries, and 1 MiB or SNS's 256 KB.

    Of a message group it takes one, for SQS may take an entry behind one that it refuses, and the order would be lost.
    """
    groups: set[str] = set()
    one_of_each: list[Item] = []
    for item in waiting:
        if (group := item.letter.group) not in groups:
            one_of_each.append(item)
        if group is not None:
            groups.add(group)
    return first_batch(one_of_each, batch_bytes(waiting[0].to))


def store(letter: Letter, batch: Batch) -> Failure | NotTried | None:
    """Store a letter until it is due; return why that failed, or None."""
    timeouts = batch.settings.timeouts
    if timeouts is None or letter.stored is None or not leaves_time_to_settle(batch.time):
        return OUT_OF_TIME
    queue, due_at = letter.stored
    try:
        timeouts.hold(letter.entry, to=queue, at=due_at, key=letter.identity)
    except TooLarge as error:
        return Failure("size", "", str(error))
    except Exception as error:  # noqa: BLE001  # its text is the reason why the message waits; a store that fails is no fault of the message
        return Failure("busy", "", describe_error(error.__cause__ or error))
    return None


def out_of_time(unsent: Iterable[Letter], time: TimeBudget) -> NotTried:
    """Return the failure of the letters that are left; a slow call explains it if they fit into its time at the usual pace."""
    return TOO_MUCH if calls_for(unsent) * USUAL_CALL > time.slowest_call else OUT_OF_TIME


def is_at_fault(delivery: Delivery, failure: Failure | NotTried, invocation: Invocation) -> bool:
    """True if the handler sends more than its invocation has time for: it alone has started, and no slow call explains it for a day."""
    if invocation.started > 1 or not isinstance(failure, NotTried):
        return False
    since = delivery.held_since
    return failure.why == "too_much" or (since is not None and invocation.clock() - since >= MOST_REDELIVERY)


def leaves_time_to_settle(time: TimeBudget) -> bool:
    """True if after another call there is still time to send copies and delete their originals, for all messages of the batch.

    No more than the time of one call that hangs is kept for that, as in `must_send`.
    """
    calls = CALLS * max(ceil(time.messages / MAX_ENTRIES), 1) + 1
    return time.before_call() >= min(calls * max(time.slowest_call, USUAL_CALL), time.call_timeout)


def must_send(batch: Batch) -> bool:
    """True once what waits takes more than half of the time kept for settling, which is the time of one call that hangs.

    The other half is for what the next handler sends, and for settling.
    """
    time = batch.time
    letters = [letter for _, outbox, _ in batch.invocation.outgoing for letter in outbox.entries]
    return calls_for(letters) * max(time.slowest_call, USUAL_CALL) > time.call_timeout


def calls_for(letters: Iterable[Letter]) -> int:
    """Return about how many calls the letters take: ten to one destination in a call, fewer when they are large."""
    tenths: dict[Destination, int] = {}
    for letter in letters:
        tenths[letter.to] = tenths.get(letter.to, 0) + tenths_of_a_call(letter)
    return sum(ceil(each / MAX_ENTRIES) for each in tenths.values())


def tenths_of_a_call(letter: Letter) -> int:
    """Return how much of a call a letter takes; one of a message group, or one that is stored, takes a call of its own."""
    if letter.group is not None or letter.stored is not None:
        return MAX_ENTRIES
    return max(1, ceil(letter.weight * MAX_ENTRIES / batch_bytes(letter.to)))
