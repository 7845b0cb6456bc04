"""One delivery of a message by its broker, and the waiting that may be asked for it."""

from __future__ import annotations

from recoverable.frozen import Frozen, field

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from typing import Literal, TypeAlias

    from recoverable.message import Message
    from recoverable.recovery.settlement import Settlement

    Counter: TypeAlias = Literal["native", "header"]


class Delivery:
    """A message as it came this time.

    Args:
        message: the message.
        deliveries: the broker's count of this one's deliveries, from 1.
        prior_attempts: the attempts of this round that were made on earlier copies.
        unreported: True if more of its deliveries ended without a recorded outcome than is allowed.
        due_at: a copy that hops is not due before.
        held_since: since when the message is deferred.

    As restored from what the message carries: `suspect`, True if it may have ended a process; `at_limit`, True if its next
    unreported delivery would be its failure; `stopped`, True if its handler was stopped before, for the sake of others.

    Then it holds what came of it: `error`, what the handler raised, and `settlement`, None until there is one.
    """

    __slots__ = (
        "at_limit", "deliveries", "due_at", "error", "held_since", "message", "prior_attempts", "settlement", "stopped",
        "suspect", "unreported",
    )  # fmt: skip

    def __init__(
        self,
        message: Message,
        deliveries: int = 1,
        prior_attempts: int = 0,
        *,
        unreported: bool = False,
        due_at: datetime | None = None,
        held_since: datetime | None = None,
    ) -> None:
        self.message, self.deliveries, self.prior_attempts = message, deliveries, prior_attempts
        self.unreported, self.due_at, self.held_since = unreported, due_at, held_since
        self.suspect = self.at_limit = self.stopped = False
        self.error: BaseException | None = None
        self.settlement: Settlement | None = None


class Deferral(Frozen):
    """Waiting that is no attempt.

    Args:
        delay: how long the copy waits.
        reason: why, for the log.
        hop: a copy not yet due, whose deliveries say nothing about attempts.
        failure: what the handler raised, where it ran and that is to count as no attempt.
        stopped: True if the handler was stopped although it had not all the time there is.
    """

    delay: timedelta
    reason: str
    hop: bool = field(default=False, kw_only=True)
    failure: BaseException | None = field(default=None, kw_only=True)
    stopped: bool = field(default=False, kw_only=True)


class Platform(Frozen):
    """What the platform counts and can do.

    Args:
        counter: "native" where the broker counts deliveries and an immediate retry redelivers the same message; "header" where an
            immediate retry is a copy that carries the count.
        redelivers_only: retries redeliver the same message after a time, and nothing is ever copied but to the error queue (SQS FIFO).
        immediate_retries: whether it can retry at once.
        delayed_retries: whether it can retry later.
        longest_delay: what the broker can delay one copy by; longer delays hop. None when there is no limit.
        shared_process: whether all that a death took along starts again together, and nothing can be done about their order (Functions).
        host: what operators know this host by.
        machine: what operators know this instance by.
    """

    counter: Counter = "native"
    redelivers_only: bool = field(default=False, kw_only=True)
    immediate_retries: bool = field(default=True, kw_only=True)
    delayed_retries: bool = field(default=True, kw_only=True)
    longest_delay: timedelta | None = field(default=None, kw_only=True)
    shared_process: bool = field(default=False, kw_only=True)
    host: str = field(default="", kw_only=True)
    machine: str = field(default="", kw_only=True)
