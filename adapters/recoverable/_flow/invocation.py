"""Hold what the attempts of one invocation share: settings, platform and time."""

from __future__ import annotations

from functools import cached_property

from recoverable._flow.deadline import FOREVER

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from recoverable._config import Recoverability
    from recoverable._flow.deadline import Deadline
    from recoverable._flow.settle import Lease
    from recoverable._ladder.delivery import Deferral, Delivery
    from recoverable._ladder.faults import Redact
    from recoverable._ladder.settlement import Platform, Settlement
    from recoverable._message import Message
    from recoverable._observe.record import Record
    from recoverable._outgoing.outbox import Outbox, Sender
    from recoverable.hosting import Environment

    class Gate(Protocol):
        """Decides whether a message may be attempted now, and what its outcome means for others; it is the core's own, and part of the promise.

        `before` and `after` may block, and are called where that harms nobody.
        """

        @property
        def quiet(self) -> bool:
            """True while the gate is in no message's way, and needs no word of a success."""

        @property
        def is_limited(self) -> bool:
            """True while it keeps messages waiting, as far as this instance knows."""

        def asks_about(self, delivery: Delivery, /) -> bool:
            """True if `before` must be asked about a message, which may block."""

        def before(self, delivery: Delivery, within: Callable[[], float] | None, /) -> Deferral | None:
            """Return how a message must wait before it may be attempted; None when it may be now.

            `within` returns for how many seconds it may wait in its place, inside the invocation; None where it must not.
            """

        def after(self, delivery: Delivery, error: BaseException | None, /) -> Deferral | None:
            """Note how an attempt has ended, and return how its message waits; None when recovery decides about it."""

        def wait(self, seconds: float, /) -> None:
            """Wait inside the invocation."""

        def release(self, delivery: Delivery, /) -> None:
            """Keep nothing for a message any more: it is handed back unattempted."""


class Invocation:
    """Settings, platform and time that each attempt of one invocation shares, and how each message is to be settled.

    Args:
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        environment: has the clock, and what the process keeps.
        deadline: how long handlers may run, and what stops plain ones.
        context: the host's, for handlers that ask for it.
        seconds_for_retries: returns for how long retries in process may still start; None when nothing sets a limit.
        seconds_in_place: returns for how many seconds a message may still wait here and be attempted again; None where
            an attempt is followed by a hand-back.
        gates: decide who may be attempted; none where nothing limits the rate.
        record: what happens here, for extensions; None where nobody takes part.
        sender: returns what collecting needs, when a handler first sends.
        must_send: returns True once what waits is to be sent before the next handler; None where that is never so.
        lease: returns what knows for how long the invocation has its messages, when one first fails; None where they are its own to the end.
        on_failure: called with the message and the exception of each failed attempt, before recovery decides.
        holds_interruptions: True to settle first when a handler raises KeyboardInterrupt or SystemExit; False to raise
            it at once.
    """

    def __init__(
        self,
        recoverability: Recoverability,
        platform: Platform,
        environment: Environment,
        deadline: Deadline,
        *,
        context: Any = None,
        seconds_for_retries: Callable[[], float] | None = None,
        seconds_in_place: Callable[[], float] | None = None,
        gates: tuple[Gate, ...] = (),
        record: Record | None = None,
        sender: Callable[[], Sender] | None = None,
        must_send: Callable[[], bool] | None = None,
        lease: Callable[[], Lease] | None = None,
        on_failure: Callable[[Message, BaseException], None] | None = None,
        holds_interruptions: bool = True,
    ) -> None:
        self.recoverability, self.platform = recoverability, platform
        self.environment, self.deadline = environment, deadline
        self.context, self.gates, self.record, self.sender = context, gates, record, sender
        self.clock = environment.clock
        self.seconds_for_retries = seconds_for_retries or FOREVER.__float__  # which returns it
        self.seconds_in_place, self.must_send = seconds_in_place, must_send
        self.on_failure, self.holds_interruptions, self.make_lease = on_failure, holds_interruptions, lease
        self.settlements: dict[Message, Settlement] = {}
        """How each message is to be settled; one that is absent is never completed."""
        self.failed: list[Delivery] = []  # whose handler has raised, each time it did
        self.outgoing: list[tuple[Delivery, Outbox, float]] = []  # of handlers that succeeded, until it is sent
        self.started = self.finished = 0  # handlers
        self.interruption: KeyboardInterrupt | SystemExit | None = None  # to be raised again after settling
        self.plain = record is None and seconds_in_place is None and not recoverability.immediate.in_process
        """True while a message that comes for the first time need only run, and be completed."""
        for gate in gates:
            self.plain = self.plain and gate.quiet

    @property
    def redact(self) -> Redact | None:
        """Return the user's redactor."""
        return self.recoverability.redact

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
