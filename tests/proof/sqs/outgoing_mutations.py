"""List mistakes with what handlers send that the package does not make on SQS, and the promise that each breaks."""

from __future__ import annotations

from proof.mistakes import Mutation
from recoverable import Message
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import COMPLETE, Settlement
from recoverable._message import received
from recoverable._outgoing.identity import content_of
from recoverable._outgoing.message import Outgoing
from recoverable._outgoing.outbox import Outbox
from recoverable.aws._batch import Batch
from recoverable.aws._send import Failures, Item, send_all
from recoverable.hosting import current_environment

add = Outbox.add


def add_and_send(outbox: Outbox, outgoing: Outgoing) -> None:
    """Send at once, as the SDK does."""
    add(outbox, outgoing)
    letter, environment = outbox.entries.pop(), current_environment.get()
    assert environment is not None
    environment.client.send_message_batch(QueueUrl=letter.to.url_at(""), Entries=[{"Id": "0", **letter.entry}])


def take_for_sent(items: list[Item], batch: Batch) -> Failures:
    """Complete a message whatever became of what its handler sent."""
    send_all(items, batch)
    return {}


def completed(delivery: Delivery, *_: object, **__: object) -> Settlement:
    """Complete a message of which something was not taken for now."""
    return COMPLETE


def by_place(outgoing: Outgoing) -> str:
    """Name what is sent by its place among what goes to the same destination."""
    return outgoing.destination


def with_the_time(outgoing: Outgoing, *, clock: list[int] = []) -> str:  # noqa: B006  # it counts on
    """Name what is sent anew each time."""
    clock.append(1)
    return f"{content_of(outgoing)} {len(clock)}"


def of_this_copy(_: object, message: Message) -> str:
    """Name what is sent after the copy that the handler works on."""
    return str(received(message)["messageId"])


def all_together(waiting: list[Item]) -> list[Item]:
    """Send several messages of a group by one call."""
    return waiting[:10]


def sent_twice(items: list[Item], batch: Batch) -> Failures:
    """Repeat each send."""
    send_all(items, batch)
    return send_all(items, batch)


MUTATIONS = (
    Mutation("sent at once", "_outgoing.outbox.Outbox.add", add_and_send, "sending and failing", "GHOST"),
    Mutation("taken for sent", "aws._send.send_all", take_for_sent, "sending", "MISSING"),
    Mutation("completed though unsent", "aws._send.settle_unsent", completed, "sending", "MISSING"),
    Mutation("named by their places", "_outgoing.outbox.content_of", by_place, "sending to a FIFO queue", "MISSING"),
    Mutation("named anew each time", "_outgoing.outbox.content_of", with_the_time, "sending", "IDENTITY"),
    Mutation("named after the copy", "aws._outgoing.SqsSender.origin_of", of_this_copy, "sending", "IDENTITY"),
    Mutation("a group in one call", "aws._send.next_batch", all_together, "sending to FIFO in parts", "ORDER"),
    Mutation("outgoing ones sent twice", "aws._send.send_all", sent_twice, "sending", "COPIES"),
)  # fmt: skip
