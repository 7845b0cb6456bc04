"""Take an outgoing message when the handler sends it: name its origin, check it, and have the client made in the handler's time."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from recoverable._limits import NO_DELAY
from recoverable._message import Message, received
from recoverable._outgoing.values import Outgoing
from recoverable._sqs.broker import Broker
from recoverable._sqs.clients import sqs_client
from recoverable._sqs.names import destination
from recoverable._sqs.queues import Queue
from recoverable._sqs.topics import Topic, topic_of
from recoverable._sqs.wire import HEADERS
from recoverable.aws._copies import Entry, in_json, size
from recoverable.aws._outgoing import dispatch as _dispatch  # noqa: F401  # read now, not in the time that is kept for settling
from recoverable.aws._outgoing.entries import (
    LONGEST_DELAY,
    Destination,
    Letter,
    addressed,
    attributes_of,
    full_name,
    most_bytes,
    text_of,
)
from recoverable.aws._outgoing.fitting import must_send
from recoverable.aws._time_budget import call_timeout
from recoverable.headers import ORIGIN

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.hosting import Environment
    from recoverable.timeouts import Timeouts


def sender_for(
    invocation: Invocation, queue: Queue, environment: Environment, time: TimeBudget, timeouts: Timeouts | None
) -> SqsSender:
    """Return what takes the outgoing messages of one invocation, which from now on asks whether they still fit into its time.

    Args:
        invocation: in which a handler sends for the first time.
        queue: the queue that its messages came from.
        environment: has the client.
        time: the invocation's.
        timeouts: where messages are stored whose delay SQS cannot do.
    """
    invocation.must_send = partial(must_send, invocation, time)
    make_client = Broker(queue, environment, time).client_for
    return SqsSender(queue, environment.clock, make_client, stores_delays=timeouts is not None)


def warm_up(settle_within: timedelta) -> None:
    """Read what sends, and make the SQS client of the function's region, before the first invocation."""
    import recoverable._outgoing.outbox  # noqa: F401, PLC0415  # else the first send reads it

    if region := os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        sqs_client(region, call_timeout(settle_within.total_seconds()))


class SqsSender:
    """SQS and SNS, as far as collecting outgoing messages needs them.

    Args:
        queue: the queue that the messages came from.
        clock: returns the time.
        make_client: makes the client for a destination, in the handler's time and not in what is kept for settling.
        stores_delays: True if there is a store for delays that SQS cannot do.
    """

    def __init__(
        self,
        queue: Queue,
        clock: Callable[[], datetime],
        make_client: Callable[[Destination], object],
        *,
        stores_delays: bool,
    ) -> None:
        self._queue, self.now, self._make_client, self._stores_delays = queue, clock, make_client, stores_delays
        self.source = f"{queue.region}/{queue.account}/{queue.name}"

    def origin_of(self, message: Message) -> str:
        """Return the message id that SQS gave to the first original."""
        return message.headers.get(ORIGIN) or str(received(message)["messageId"])

    def entry_of(self, message: Message, outgoing: Outgoing, headers: dict[str, str]) -> Letter:
        """Return the letter.

        Raises:
            TypeError: an attribute of another kind.
            ValueError: SQS or SNS does not take such a message.
        """
        call = f"Message.{outgoing.intent.lower()}"
        to = (
            destination(outgoing.destination, self._queue)
            if outgoing.intent == "Send"
            else topic_of(outgoing.destination, self._queue)
        )
        entry: Entry = {
            "MessageBody": text_of(call, outgoing.body),
            "MessageAttributes": {
                **attributes_of(call, outgoing),
                HEADERS: {"StringValue": in_json(headers), "DataType": "String"},
            },
        }
        weight, most = size(entry), most_bytes(to)
        if weight > most:
            raise ValueError(
                f"{call}(body) makes a message of {weight:,} bytes with its headers and attributes; '{to.name}' takes {most:,}"
            )
        due_at = self._check_delay(call, outgoing, to)
        entry |= addressed(call, message, outgoing, to)
        if isinstance(to, Topic):
            entry["Message"] = entry.pop("MessageBody")
        self._make_client(to)
        group = entry.get("MessageGroupId") if to.fifo else None
        stored = (full_name(outgoing.destination, message), due_at) if due_at else None
        return Letter(to, entry, weight, group, stored, outgoing.message_id or "")

    def _check_delay(self, call: str, outgoing: Outgoing, to: Destination) -> datetime | None:
        """Return when a message is due whose delay SQS cannot do; None when it can."""
        if isinstance(to, Topic) and outgoing.delay:
            raise ValueError(f"{call}(delay) is {outgoing.delay}; SNS delays nothing: send to a queue instead")
        if outgoing.delay <= (NO_DELAY if to.fifo else LONGEST_DELAY):
            return None
        if not self._stores_delays:
            what = "a FIFO queue delays no single message" if to.fifo else "SQS delays a message by 15 minutes at most"
            raise ValueError(
                f"{call}(delay) is {outgoing.delay}; {what}: write SqsEndpoint(timeouts=Timeouts(store)) for more"
            )
        return self.now() + outgoing.delay
