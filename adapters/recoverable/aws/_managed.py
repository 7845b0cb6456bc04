"""Serve Lambda Managed Instances: watch the handlers of an invocation, and settle by receipt handle what no answer reaches Lambda in time for."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from recoverable._flow.settle import hand_back
from recoverable._ladder.delivery import delivery_of
from recoverable._ladder.settlement import COMPLETE
from recoverable._observe.log import log_safely
from recoverable.aws._heartbeat import LOOK_EVERY, beats_for, call_later
from recoverable.aws._send import send_outgoing
from recoverable.aws._settle import delete, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable.aws._batch import Batch, RunHandlers
    from recoverable.aws._heartbeat import Beats
    from recoverable.aws._time_budget import TimeBudget

log = logging.getLogger("recoverable")

STUCK = (
    "A handler for messages from '%s' has not ended in its time, and cannot be stopped. Messages whose handlers have ended "
    "are settled, and those whose handlers have not begun are handed back. Its message stays hidden until the handler ends, "
    "for 12 hours at most, and this process takes no other messages until then. Check what the handler waits for, and give "
    "that a time-out: C code, a lock, a process."
)
"""The line of the log for a handler that cannot be stopped."""


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


HOLD = timedelta(minutes=2)
"""For how long a message is hidden at a time while its handler cannot be stopped, where the endpoint has no
heartbeat."""

LAST_MOMENT = 0.5
"""Seconds before the end of an invocation from which on its answer may reach Lambda too late."""

KEPT = (
    "A handler raised %s, which is a failed attempt. It does not end its process, for Lambda starts none in its place on Managed "
    "Instances. Raise another exception instead."
)

NOT_BEGUN = "another handler of its batch does not end, and cannot be stopped"
"""Why messages are handed back that wait behind such a handler."""


@contextmanager
def watched(batch: Batch, run_handlers: RunHandlers) -> Iterator[RunHandlers]:
    """Do while the block runs what Lambda does not do on Managed Instances; give the function by which handlers are to be run.

    Shortly before the time ends, a thread looks whether a handler is still at work. Then it settles the others, and
    keeps that handler's message hidden, so that it does not run beside its own redelivery. A handler that ends later
    has its message settled by the receipt handle.

    Args:
        batch: the records, and what settling them works with.
        run_handlers: takes a group of messages through the flow.
    """
    invocation, deliveries = batch.invocation, [delivery_of(message) for message in batch.messages]
    batch.time.ends = False
    invocation.heartbeat = watch = Watch(
        deliveries, invocation, hold=partial(hold, batch), settle=partial(settle_beside, batch),
        hand_back=partial(hand_back_all, invocation), sleep=batch.environment.sleep, is_late=partial(is_late, batch.time),
    )  # fmt: skip
    # a handler that is still at work then cannot be stopped: it was asked to end before
    until_look = max(batch.time.remaining() - batch.time.call_timeout, 0.0)
    cancel = (batch.environment.later or call_later)(until_look, watch.take_over)
    try:
        yield lambda group, _: watch.run(run_handlers, group)
        if watch.late:
            completed = [each for each in deliveries if invocation.settlement_of(each) is COMPLETE]
            delete([each for each in completed if each not in watch.ended], batch)
        keep_process(invocation)
    finally:
        cancel()
        watch.close()


def keep_process(invocation: Invocation) -> None:
    """Raise no exception again with which a handler wanted to end the process: all is settled, and Lambda starts none in its place."""
    if invocation.interruption is not None:
        name = type(invocation.interruption).__name__
        log_safely(log.warning, KEPT, name)
        invocation.interruption = None


def is_late(time: TimeBudget) -> bool:
    """True once an answer may not reach Lambda in time."""
    return time.remaining() < LAST_MOMENT


def hold(batch: Batch, deliveries: list[Delivery]) -> Beats:
    """Keep messages hidden from now on; return what does."""
    beats = beats_for(HOLD, batch)
    beats.begin(deliveries)
    return beats


def hand_back_all(invocation: Invocation, deliveries: list[Delivery]) -> None:
    """Note that messages are handed back without being run."""
    for delivery in deliveries:
        invocation.settle(delivery, hand_back(delivery, invocation, reason=NOT_BEGUN))


def settle_beside(batch: Batch, deliveries: list[Delivery]) -> None:
    """Send what handlers sent that have ended, and settle the deliveries, while another handler is at work."""
    send_outgoing(batch)
    settle([delivery.message for delivery in deliveries], batch, complete_now=True)
