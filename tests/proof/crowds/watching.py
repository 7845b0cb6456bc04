"""Watch a crowd at each point of its run: who is in which batch, who is tried first, whose deliveries are lost, and which faults strike."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

from proof.fault_names import FAULTS, FREE, possible_fault_names
from recoverable import headers
from recoverable_local.testing import AnswerLost, Throttled, Unreachable
from recoverable_local.testing.aws.fault_points import possible_faults
from recoverable_local.testing.aws.seen_message import to_seen_message
from recoverable_local.testing.engine.invocation import current_invocation, current_number

if TYPE_CHECKING:
    from proof.crowds.crowd import Crowd
    from recoverable_local.testing import Fault, SeenMessage, SqsWorld
    from recoverable_local.testing.engine.fault_plan import FaultPoint

CHANCE, CHANCE_AT_ATTEMPT = 0.1, 0.01
"""How likely a fault is at each point where one can happen, until a crowd has had its faults; attempts are most of these points."""

FORGIVEN = 2
"""Unreported deliveries beyond the attempts of a round at which a handler still runs."""

STRIKING = [name for name in FAULTS if name not in (*FREE, "exception", "exit", "slow")]
"""Faults that a crowd may have: not those of a wrong clock, and none that is a failure of a handler."""


class Watch:
    """The world's hook.

    Args:
        crowd: whose run it is.
        world: where it runs.
        queue: the crowd's queue.
    """

    def __init__(self, crowd: Crowd, world: SqsWorld, queue: str) -> None:
        self._crowd, self._world, self._queue = crowd, world, queue
        self._draw = Random(f"faults {crowd.seed}")
        self._batches: dict[int, tuple[str, ...]] = {}
        self._received: dict[tuple[tuple[str, int], ...], float] = {}
        self.struck: list[str] = []
        self.unreported = Counter[str]()
        self.tried = set[tuple[str, int]]()

    def __call__(self, point: FaultPoint) -> Fault | None:
        if point.what == "invoke" and point.when == "before" and not point.invocation:
            if self._is_throttled(point.message_ids):
                return Throttled()
            self._batches[self._world._invocations._number + 1] = point.message_ids
            self.tried.update(self.endangered(point.message_ids))
        if point.what == "change_message_visibility_batch" and self._draw.random() < self._crowd.unanswered:
            return AnswerLost() if point.when == "after" else Unreachable()
        names = [name for name in possible_fault_names(possible_faults, point.when, point.what) if name in STRIKING]
        chance = CHANCE_AT_ATTEMPT if point.what == "attempt" else CHANCE
        if len(self.struck) == self._crowd.faults or not names or self._draw.random() > chance:
            return None
        self.struck.append(f"{self._draw.choice(names)} {point.when} {point.what}")
        return FAULTS[self.struck[-1].partition(f" {point.when} ")[0]]

    def _is_throttled(self, broker_ids: tuple[str, ...]) -> bool:
        """True if a batch came less long ago than this crowd's function is throttled."""
        receives = [(one, self._world._broker.all[one][1].receives) for one in broker_ids]
        now = self._world._seconds()
        return now - self._received.setdefault(tuple(receives), now) < self._crowd.late

    def note_block(self, seconds: float) -> None:
        """Note that a coroutine blocks the event loop for so long, which may be until the process ends."""
        running = current_invocation.get()
        if running is not None and running.remaining() <= seconds:
            self.note_end()

    def note_end(self) -> None:
        """Note that the process of this invocation ends now: what of its batch is still in the queue has lost a delivery."""
        kept = self._world._broker.queues[self._queue].messages
        self.unreported.update(self._world._identity(one) for one in self._batches[current_number()] if one in kept)

    def endangered(self, broker_ids: tuple[str, ...]) -> set[tuple[str, int]]:
        """Return those that must be tried alone: id, and round."""
        seen = [self.seen(broker_id) for broker_id in broker_ids]
        return {
            (each.id, headers.read_count(each.headers, headers.DELAYED_RETRIES)) for each in seen if self.is_tried(each)
        }

    def is_tried(self, message: SeenMessage) -> bool:
        """True if the message's next unreported delivery would be its failure, or it was stopped before."""
        granted = max(self._crowd.immediate, headers.read_count(message.headers, headers.GRANTED))
        allowed = granted + 1 - headers.read_count(message.headers, headers.PRIOR_ATTEMPTS)
        allowed = allowed if self._crowd.counter == "native" else min(1, allowed)
        return message.receive_count >= max(1, allowed + FORGIVEN) or headers.STOPPED in message.headers

    def seen(self, broker_id: str) -> SeenMessage:
        """Return a message by the broker's id."""
        queue, message = self._world._broker.all[broker_id]
        return to_seen_message(message, queue.settings, self._world._start)
