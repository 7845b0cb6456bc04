"""Define a delivery of a message by its broker, what the platform can do, and how a delivery is settled."""

from __future__ import annotations

from recoverable._frozen import Frozen, field
from recoverable._message import NO_HEADERS, Message, place, received

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime, timedelta
    from typing import Any, Literal, TypeAlias

    Counter: TypeAlias = Literal["native", "header"]


AS_RECEIVED = ("_body", "_id", "_native", "_queue", "_sent_at", "_headers", "_group_id")
"""What a message is made of, in the order of its arguments."""


class Carried(Frozen):
    """What the headers of a message carry, parsed once, at receipt; what is absent or cannot be read has its default.

    Args:
        message_id: the id of the message over all its copies.
        time_sent: when it was first sent.
        prior_attempts: the attempts of this round that were made on earlier copies.
        round: the delayed retries made so far.
        delayed_retry_at: when the last of them was scheduled.
        first_delayed_retry_at: when the first of them was scheduled.
        due_at: when a copy that hops is due.
        held_since: since when it is deferred.
        stopped: True if its handler was stopped before for the sake of others.
        unreported: True if an earlier round ended in `UnreportedFailure`.
        reported: True if each delivery that `prior_attempts` counts ended with a recorded outcome.
        refused_sends: how often a copy for the error queue was refused.
        attempts: all attempts of earlier rounds.
        first_failed_at: when the first attempt failed of which a copy was made.
        faults: the names of fault headers of an earlier failure.
    """

    message_id: str = ""
    time_sent: datetime | None = None
    prior_attempts: int = 0
    round: int = 0
    delayed_retry_at: datetime | None = None
    first_delayed_retry_at: datetime | None = None
    due_at: datetime | None = None
    held_since: datetime | None = None
    stopped: bool = False
    unreported: bool = False
    reported: bool = False
    refused_sends: int = 0
    attempts: int = 0
    first_failed_at: datetime | None = None
    faults: tuple[str, ...] = ()


NOTHING_CARRIED = Carried()
"""What a message without headers carries."""


class Delivery:
    """A message as the broker delivered it this time.

    Args:
        message: the message.
        deliveries: how often the broker has delivered this broker message, from 1.
        carried: what its headers carry.
        unreported: True if more of its deliveries ended without a recorded outcome than is allowed.

    The rest follows from what it carries: `prior_attempts`, to which each retry in process adds one; `due_at`, when a copy that hops is
    due, None once that has come; `suspect`, True if it may have ended a process; `at_limit`, True if its next unreported delivery would
    be its failure; `unsent`, True if its handler succeeded and what it sent was not taken for now. After the attempt it also holds
    `error`, what the handler raised. On Service Bus `properties` are the application properties as they
    were received.
    """

    suspect = at_limit = unsent = False
    error: BaseException | None = None
    properties: Mapping[str, Any] = NO_HEADERS

    def __init__(
        self, message: Message, deliveries: int = 1, carried: Carried = NOTHING_CARRIED, *, unreported: bool = False
    ) -> None:
        self.message, self.deliveries, self.carried, self.unreported = message, deliveries, carried, unreported
        self.prior_attempts, self.due_at = carried.prior_attempts, carried.due_at
        message._delivery = self

    def next_attempt(self) -> Message:
        """Count the attempt that has failed, and return the message for the next one, as it was received: nothing that a handler did to it is left."""
        failed = self.message
        self.prior_attempts, self.error = self.prior_attempts + 1, None
        self.message = Message(*[getattr(failed, name) for name in AS_RECEIVED])
        place(self.message, attempt=failed.attempt + 1, round=failed.round)
        self.message._delivery = self
        return self.message

    @property
    def held_since(self) -> datetime | None:
        """Return since when the message is deferred; None if it is not."""
        return self.carried.held_since

    @property
    def given_up(self) -> bool:
        """True if its copy for the error queue was refused, and is to be sent again without running the handler."""
        return self.carried.refused_sends > 0

    @property
    def originals_reported(self) -> bool:
        """True if each delivery of the messages that it is a copy of ended with a recorded outcome."""
        return self.carried.reported or not (self.carried.prior_attempts or self.carried.unreported)

    @property
    def native(self) -> Any:
        """Return the platform's record as it was received."""
        return received(self.message)


def delivery_of(message: Message) -> Delivery:
    """Return the delivery of a message; it is made when it is first asked for, for there is nothing to say about most messages."""
    return message._delivery or Delivery(message)


class Deferral(Frozen):
    """A wait that counts as no attempt.

    Args:
        delay: how long the copy waits.
        reason: why, for the log.
        hop: True for a copy that is not yet due: its deliveries are no attempts.
        failure: what the handler raised, if it ran and that is to count as no attempt.
        stopped: True if the handler was stopped although it had not all the time there is.
    """

    delay: timedelta
    reason: str
    hop: bool = field(default=False, kw_only=True)
    failure: BaseException | None = field(default=None, kw_only=True)
    stopped: bool = field(default=False, kw_only=True)


class Platform(Frozen):
    """A description of what the platform counts and can do.

    Args:
        counter: "native" where the broker counts deliveries and an immediate retry redelivers the same message;
            "header" where an immediate retry is a copy that carries the count.
        redelivers_only: True if retries redeliver the same message after a time, and copies go to the error queue alone
            (SQS FIFO).
        immediate_retries: True if it can make immediate retries.
        delayed_retries: True if it can make delayed retries.
        longest_delay: the longest delay of one copy; longer delays hop, and where messages are only redelivered they are
            refused. None when there is no limit.
        shared_process: True if all messages of a process that died are delivered again together, in an order that
            cannot be chosen (Functions).
        text_log: True if the host's log keeps nothing but the text of a line (Functions).
        is_source: returns True if a name, as a policy writes it, is that of the queue that a delivery came from; None to compare it with
            the queue's name.
        host: the host's name for operators.
        machine: the instance's name for operators.
    """

    counter: Counter = "native"
    redelivers_only: bool = field(default=False, kw_only=True)
    immediate_retries: bool = field(default=True, kw_only=True)
    delayed_retries: bool = field(default=True, kw_only=True)
    longest_delay: timedelta | None = field(default=None, kw_only=True)
    shared_process: bool = field(default=False, kw_only=True)
    text_log: bool = field(default=False, kw_only=True)
    is_source: Callable[[str, Delivery], bool] | None = field(default=None, kw_only=True)
    host: str = field(default="", kw_only=True)
    machine: str = field(default="", kw_only=True)


class Complete(Frozen):
    """Complete the message: the broker deletes it."""


class Redeliver(Frozen):
    """Have the broker deliver the same message again.

    Args:
        after: how long it stays invisible; None leaves that as the broker has it.
    """

    after: timedelta | None


class Forward(Frozen):
    """Send a copy, and complete the message when the broker has confirmed the copy.

    Args:
        to: the queue.
        delay: how long the copy waits; never more than the platform can.
        changes: headers to set on the copy; None removes one.
    """

    to: str
    delay: timedelta
    changes: Mapping[str, str | None]


Settlement: TypeAlias = Complete | Redeliver | Forward
"""What an adapter must do with its broker: a closed union of three, for `match` and `assert_never`."""

COMPLETE = Complete()
