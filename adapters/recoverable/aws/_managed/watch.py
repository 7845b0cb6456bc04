"""Watch the handlers of one invocation: when its time ends while one cannot be stopped, settle the others beside it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from threading import Lock
from typing import TYPE_CHECKING

from recoverable._ladder.delivery import delivery_of
from recoverable._observe.log import log_safely

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable.aws._heartbeat.beats import Beats

log = logging.getLogger("recoverable")

LOOK_EVERY = 0.01
"""Seconds between two looks whether the messages have been settled that are settled beside a handler."""

STUCK = (
    "A handler for messages from '%s' has not ended in its time, and cannot be stopped. What has ended is settled, and what has not begun is "
    "handed back. Its message stays hidden until the handler ends, for 12 hours at most, and this process takes no other messages until "
    "then. Check what the handler waits for, and give that a time-out: C code, a lock, a process."
)
"""What the log says when handlers cannot be stopped."""


class Watch:
    """Watches the handlers of one invocation. It stands in for the invocation's heartbeat, which may be none.

    Args:
        deliveries: the records of the invocation.
        invocation: the invocation, with its heartbeat if it has one.
        hold: begins to keep messages hidden, and returns what does.
        settle: settles messages that handlers have ended for, or that are handed back.
        hand_back: notes that messages are handed back without being run.
        sleep: waits for so many seconds.
        is_late: returns True once Lambda takes no answer of this invocation any more.
    """

    def __init__(
        self,
        deliveries: list[Delivery],
        invocation: Invocation,
        *,
        hold: Callable[[list[Delivery]], Beats],
        settle: Callable[[list[Delivery]], object],
        hand_back: Callable[[list[Delivery]], object],
        sleep: Callable[[float], None],
        is_late: Callable[[], bool],
    ) -> None:
        self._deliveries, self._invocation, self._heartbeat = deliveries, invocation, invocation.heartbeat
        self._hold, self._settle, self._hand_back = hold, settle, hand_back
        self._sleep, self._is_late = sleep, is_late
        self._lock = Lock()
        self._begun: dict[Delivery, None] = {}
        self._claimed: set[Delivery] = set()
        self._at_work = self._over = self._settling = False
        self._held: Beats | None = None
        self.ended: set[Delivery] = set()

    @property
    def seconds(self) -> int:
        """Return for how many seconds the heartbeat hides messages at a time; 0 without one."""
        return self._heartbeat.seconds if self._heartbeat is not None else 0

    @property
    def late(self) -> bool:
        """True once Lambda takes no answer of this invocation any more."""
        return self._is_late()

    def claim(self, deliveries: list[Delivery]) -> list[Delivery]:
        """Return those of the deliveries that nobody has begun to settle; from now on nobody else does."""
        with self._lock:
            unclaimed = [delivery for delivery in deliveries if delivery not in self._claimed]
            self._claimed.update(unclaimed)
            return unclaimed

    def end(self, deliveries: Collection[Delivery]) -> None:
        """Keep these hidden no more: they are being settled."""
        self.ended.update(deliveries)
        if self._heartbeat is not None:
            self._heartbeat.end(deliveries)

    def run(self, run_handlers: Callable[[Iterator[Message], Invocation], object], group: Iterator[Message]) -> None:
        """Run the handlers of a group, and do not return while messages are settled beside them."""
        with self._lock:
            self._at_work = True
        try:
            run_handlers(self._taking(group), self._invocation)
        finally:
            with self._lock:
                self._at_work = False
            while self._settling:
                self._sleep(LOOK_EVERY)

    def take_over(self) -> None:
        """Settle what has ended and what has not begun, and keep hidden what is at work; do nothing unless a handler is at work."""
        with self._lock:
            if not self._at_work:
                return
            self._over = self._settling = True
            sending = {delivery for delivery, *_ in self._invocation.outgoing}
            begun = [each for each in self._begun if each not in self._claimed]
            settled = {each for each in self._deliveries if self._invocation.settlement_of(each) is not None}
            done = [each for each in begun if each in settled or each in sending]
            at_work = [each for each in begun if each not in done]
            waiting = [each for each in self._deliveries if each not in self._begun and each not in settled]
        try:
            if at_work:
                log_safely(log.error, STUCK, at_work[0].message.queue, extra=ids(at_work))
            if at_work and self._heartbeat is None:
                self._heartbeat = self._held = self._hold(at_work)
            self._settle(done)
            self._hand_back(waiting)
            self._settle(waiting)
        finally:
            self.end([*done, *waiting])  # what could not be settled comes back, and need not wait for the handler
            self.claim([*done, *waiting])
            self._settling = False

    def close(self) -> None:
        """Hide nothing any more that is hidden because its handler could not be stopped."""
        if self._held is not None:
            self._held.end_all()

    def _taking(self, group: Iterator[Message]) -> Iterator[Message]:
        """Yield the messages whose handlers may begin; none any more once others settle for this invocation."""
        for message in group:
            with self._lock:
                if self._over:
                    return
                self._begun[delivery_of(message)] = None
            yield message


def ids(deliveries: list[Delivery]) -> dict[str, object]:
    """Return the messages' ids, for the log."""
    return {"message_ids": [delivery.message.id for delivery in deliveries]}
