"""One delivery of a message by its broker, and the waiting that may be asked for it."""

from __future__ import annotations

from .frozen import Frozen

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from typing import Literal, TypeAlias

    from .messages import Message

    Counter: TypeAlias = Literal["native", "header"]


class Delivery:
    """A message as it came this time.

    Args:
        message: the message.
        deliveries: the broker's count of this one's deliveries, from 1.
        carried: the attempts of this round that were made on earlier copies.
        wordless: whether more of its deliveries ended without a word than is forgiven.
        due_at: a copy that hops is not due before.
        held_since: since when the message is deferred.
    """

    __slots__ = ("carried", "deliveries", "due_at", "held_since", "message", "wordless")

    def __init__(
        self,
        message: Message,
        deliveries: int = 1,
        carried: int = 0,
        *,
        wordless: bool = False,
        due_at: datetime | None = None,
        held_since: datetime | None = None,
    ) -> None:
        self.message, self.deliveries, self.carried = message, deliveries, carried
        self.wordless, self.due_at, self.held_since = wordless, due_at, held_since


class Deferral(Frozen):
    """Waiting that is no attempt.

    Args:
        delay: how long the copy waits.
        reason: why, for the log.
        hop: a copy not yet due, whose deliveries say nothing about attempts.
        failure: what the handler raised, where it ran and that is to count as no attempt.
    """

    __slots__ = ("delay", "failure", "hop", "reason")
    delay: timedelta
    hop: bool
    reason: str
    failure: BaseException | None

    def __init__(
        self, delay: timedelta, reason: str, *, hop: bool = False, failure: BaseException | None = None
    ) -> None:
        self._assign(delay=delay, reason=reason, hop=hop, failure=failure)


class Platform(Frozen):
    """What the platform counts and can do.

    Args:
        counter: "native" where the broker counts deliveries and an immediate retry redelivers the same message; "header" where an
            immediate retry is a copy that carries the count.
        in_place: retries redeliver the same message after a time, and nothing is ever copied but to the error queue (SQS FIFO).
        immediate_retries: whether it can retry at once.
        delayed_retries: whether it can retry later.
        longest_delay: what the broker can delay one copy by; longer delays hop. None when there is no limit.
        lockstep: whether all that a death took along starts again together, and nothing can be done about their order (Functions).
        host: what operators know this host by.
        machine: what operators know this instance by.
    """

    __slots__ = (
        "counter",
        "delayed_retries",
        "host",
        "immediate_retries",
        "in_place",
        "lockstep",
        "longest_delay",
        "machine",
    )
    counter: Counter
    in_place: bool
    immediate_retries: bool
    delayed_retries: bool
    longest_delay: timedelta | None
    lockstep: bool
    host: str
    machine: str

    def __init__(
        self,
        counter: Counter = "native",
        *,
        in_place: bool = False,
        immediate_retries: bool = True,
        delayed_retries: bool = True,
        longest_delay: timedelta | None = None,
        lockstep: bool = False,
        host: str = "",
        machine: str = "",
    ) -> None:
        self._assign(counter=counter, in_place=in_place, immediate_retries=immediate_retries)
        self._assign(delayed_retries=delayed_retries, longest_delay=longest_delay, lockstep=lockstep)
        self._assign(host=host, machine=machine)
