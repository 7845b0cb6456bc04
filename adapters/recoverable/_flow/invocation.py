"""Hold what the attempts of one invocation share: settings, platform and time."""

from __future__ import annotations

from functools import cached_property

from recoverable._flow.deadline import FOREVER

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime
    from typing import Any, Protocol

    from recoverable._config import Recoverability
    from recoverable._flow.deadline import Deadline
    from recoverable._flow.settle import Lease
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Platform, Settlement
    from recoverable._message import Message
    from recoverable._observe.observer import Observer
    from recoverable._outgoing.outbox import Outbox, Sender
    from recoverable._rate_limit.limiter import Limiter

    class Heartbeat(Protocol):
        """Keeps the messages of an invocation hidden."""

        @property
        def seconds(self) -> int:
            """Return for how many seconds at a time; 0 where they are not hidden by this."""

        @property
        def late(self) -> bool:
            """True once the host takes no answer of this invocation any more."""

        def claim(self, deliveries: list[Delivery]) -> list[Delivery]:
            """Return those of the deliveries that nobody has begun to settle; from now on nobody else does."""

        def end(self, deliveries: Collection[Delivery]) -> None:
            """Change nothing more about these messages: they are being settled."""


class Invocation:
    """Settings, platform and time that each attempt of one invocation shares, and how each message is to be settled.

    Args:
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        clock: the time.
        deadline: how long handlers may run, and what stops plain ones.
        context: the host's, for handlers that ask for it.
        seconds_for_retries: returns for how long retries in process may still start; None when nothing sets a limit.
        limiter: decides who may be attempted where the rate may be limited.
        observer: collects what is reported when all is settled; None where nobody observes.
        sender: returns what collecting needs, when a handler first sends.
        lease: returns what knows for how long the invocation has its messages, when one first fails; None where they are its own to the end.
        on_failure: called with the message and the exception of each failed attempt, before recovery decides.
        holds_interruptions: True to settle first when a handler raises KeyboardInterrupt or SystemExit; False to raise
            it at once.
    """

    completes: bool = False  # True where what is completed is deleted here, because of what comes before or after that
    delete_bodies: Callable[[list[Delivery]], None] | None = None  # deletes what messages had in S3, where asked
    must_send: Callable[[], bool] = bool  # True once what waits is to be sent before the next handler; here False
    seconds_in_place: Callable[[], float] | None = None
    """Returns for how many seconds a message may still wait here and be attempted again while the rate is limited; None where an attempt
    is followed by a hand-back."""
    heartbeat: Heartbeat | None = None  # keeps messages hidden while they wait and run, where the endpoint is asked to

    def __init__(
        self,
        recoverability: Recoverability,
        platform: Platform,
        clock: Callable[[], datetime],
        deadline: Deadline,
        *,
        context: Any = None,
        seconds_for_retries: Callable[[], float] | None = None,
        limiter: Limiter | None = None,
        observer: Observer | None = None,
        sender: Callable[[], Sender] | None = None,
        lease: Callable[[], Lease] | None = None,
        on_failure: Callable[[Message, BaseException], None] | None = None,
        holds_interruptions: bool = True,
    ) -> None:
        self.recoverability, self.platform, self.clock, self.deadline = recoverability, platform, clock, deadline
        self.context, self.limiter, self.observer, self.sender = context, limiter, observer, sender
        self.redact = None if recoverability.observe is None else recoverability.observe.redact
        self.seconds_for_retries = seconds_for_retries or FOREVER.__float__  # which returns it
        self.on_failure, self.holds_interruptions, self.make_lease = on_failure, holds_interruptions, lease
        self.settlements: dict[Message, Settlement] = {}
        """How each message is to be settled; one that is absent is never completed."""
        self.failed: list[Delivery] = []  # whose handler has raised, each time it did
        self.outgoing: list[tuple[Delivery, Outbox, float]] = []  # of handlers that succeeded, until it is sent
        self.started = self.finished = 0  # handlers
        self.interruption: KeyboardInterrupt | SystemExit | None = None  # to be raised again after settling

    @cached_property
    def lease(self) -> Lease | None:
        """Return what knows for how long the invocation has its messages; None where they are its own to the end."""
        return None if self.make_lease is None else self.make_lease()

    def settle(self, delivery: Delivery, settlement: Settlement) -> None:
        """Record how a message is to be settled, in place of what was recorded before."""
        self.settlements[delivery.message] = settlement

    def settlement_of(self, delivery: Delivery) -> Settlement | None:
        """Return how a message is to be settled; None while that is not decided."""
        return self.settlements.get(delivery.message)
