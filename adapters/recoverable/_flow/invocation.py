"""Hold what the attempts of one invocation share: settings, platform and time."""

from __future__ import annotations

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime, timedelta
    from typing import Any, Protocol

    from recoverable._config import Recoverability
    from recoverable._flow.deadline import Deadline
    from recoverable._ladder.delivery import Delivery, Platform
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


FOREVER = float("inf")
"""Seconds where nothing sets a limit."""


class Invocation:
    """Settings, platform and time that each attempt of one invocation shares.

    Args:
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        clock: the time.
        seconds_left: how long handlers may still run; None when the host sets no limit.
        handler_timeout: how long one handler may run; None for as long as the invocation allows.
        deadline: stops plain handlers; None where nothing can.
        limiter: decides who may be attempted where the rate may be limited.
        on_failure: called with the message and the exception of each failed attempt, before recovery decides.
        holds_interruptions: True to settle first when a handler raises KeyboardInterrupt or SystemExit; False to raise it at once.
    """

    context: Any = None  # the host's, for handlers that ask for it
    delete_bodies: Callable[[list[Delivery]], None] | None = None  # deletes what messages had in S3, where asked
    observer: Observer | None = None  # collects what is told when all is settled, where somebody observes
    sender: Callable[[], Sender] | None = None  # returns what collecting needs, when a handler first sends
    must_send: Callable[[], bool] = bool  # True once what waits is to be sent before the next handler; here False
    heartbeat: Heartbeat | None = None  # keeps messages hidden while they wait and run, where the endpoint is asked to

    def __init__(
        self,
        recoverability: Recoverability,
        platform: Platform,
        clock: Callable[[], datetime],
        *,
        seconds_left: Callable[[], float] | None = None,
        handler_timeout: timedelta | None = None,
        deadline: Deadline | None = None,
        limiter: Limiter | None = None,
        on_failure: Callable[[Message, BaseException], None] | None = None,
        holds_interruptions: bool = True,
    ) -> None:
        self.recoverability, self.platform, self.clock = recoverability, platform, clock
        self.seconds_left = self.seconds_for_retries = seconds_left or FOREVER.__float__  # which returns it
        """Functions that return for how long handlers may still run, and for how long retries in process may still start."""
        self.own_seconds = FOREVER if handler_timeout is None else handler_timeout.total_seconds()
        self.deadline, self.limiter = deadline, limiter
        self.on_failure, self.holds_interruptions = on_failure, holds_interruptions
        self.outgoing: list[tuple[Delivery, Outbox, float]] = []  # of handlers that succeeded, until it is sent
        self.started = self.finished = 0  # handlers
        self.interruption: KeyboardInterrupt | SystemExit | None = None  # to be raised again after settling
