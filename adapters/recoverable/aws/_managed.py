"""Serve Lambda Managed Instances: watch the handlers of an invocation, and settle by receipt handle what no answer reaches Lambda in time for."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from recoverable._flow.settle import hand_back
from recoverable._ladder.delivery import delivery_of
from recoverable._ladder.settlement import COMPLETE
from recoverable._observe.log import log_safely
from recoverable._sqs.beats import LOOK_EVERY, Beats
from recoverable.aws._send import send_outgoing
from recoverable.aws._settle import complete, settle

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable.aws._batch import Batch, RunHandlers
    from recoverable.aws._hosted import Hiding

log = logging.getLogger("recoverable")

STUCK = (
    "A handler for messages from '%s' has not ended in its time, and cannot be stopped. Messages whose handlers have ended "
    "are settled, and those whose handlers have not begun are handed back. Its message stays hidden until the handler ends, "
    "for 12 hours at most, and this process takes no other messages until then. Check what the handler waits for, and give "
    "that a time-out: C code, a lock, a process."
)
"""The line of the log for a handler that cannot be stopped."""


HOLD = 120
"""For how many seconds a message is hidden at a time while its handler cannot be stopped, where the endpoint has no
heartbeat."""

LAST_MOMENT = 0.5
"""Seconds before the end of an invocation from which on its answer may reach Lambda too late."""

KEPT = (
    "A handler raised %s, which is a failed attempt. It does not end its process, for Lambda starts none in its place on Managed "
    "Instances. Raise another exception instead."
)

NOT_BEGUN = "another handler of its batch does not end, and cannot be stopped"
"""Why messages are handed back that wait behind such a handler."""


class Watch:
    """Watches the handlers of one invocation, and settles beside one that cannot be stopped.

    Args:
        batch: the records, and what settling them works with.
        hiding: hides messages, and calls functions later.
    """

    def __init__(self, batch: Batch, hiding: Hiding) -> None:
        self._batch, self._invocation, self._hiding = batch, batch.invocation, hiding
        self._deliveries = [delivery_of(message) for message in batch.messages]
        self._lock = Lock()
        self._begun: dict[Delivery, None] = {}
        self._claimed: set[Delivery] = set()
        self._at_work = self._over = self._settling = False
        self._held: Beats | None = None
        self._ended: set[Delivery] = set()

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Do while the block runs what Lambda does not do on Managed Instances.

        Shortly before the time ends, a thread looks whether a handler is still at work. Then it settles the others, and
        keeps that handler's message hidden, so that it does not run beside its own redelivery. A handler that ends
        later has its message settled by the receipt handle.
        """
        time, invocation = self._batch.time, self._invocation
        time.ends = False
        # a handler that is still at work then cannot be stopped: it was asked to end before
        until_look = max(time.remaining() - time.call_timeout, 0.0)
        cancel = self._hiding.later(until_look, self.take_over)
        try:
            yield
            keep_process(invocation)
        finally:
            cancel()
            if self._held is not None:
                self._held.close()

    def complete_late(self) -> list[Delivery]:
        """Delete what is completed, where the answer may not reach Lambda in time; return what SQS denied that of."""
        if not self.late:
            return []
        completed = [each for each in self._deliveries if self._invocation.settlement_of(each) is COMPLETE]
        return complete([each for each in completed if each not in self._ended], self._batch)

    @property
    def late(self) -> bool:
        """True once an answer may not reach Lambda in time."""
        return self._batch.time.remaining() < LAST_MOMENT

    def claim(self, deliveries: list[Delivery]) -> list[Delivery]:
        """Return those of the deliveries that nobody has begun to settle; from now on nobody else does."""
        with self._lock:
            unclaimed = [delivery for delivery in deliveries if delivery not in self._claimed]
            self._claimed.update(unclaimed)
            return unclaimed

    def end(self, deliveries: Collection[Delivery]) -> None:
        """Keep these hidden no more: they are being settled."""
        self._ended.update(deliveries)
        if self._held is not None:
            self._held.release([message for message in self._batch.messages if delivery_of(message) in deliveries])

    def run(self, run_handlers: RunHandlers, group: Iterator[Message], invocation: Invocation) -> None:
        """Run the handlers of a group, and do not return while messages are settled beside them."""
        with self._lock:
            self._at_work = True
        try:
            run_handlers(self._taking(group), invocation)
        finally:
            with self._lock:
                self._at_work = False
            while self._settling:
                self._batch.environment.sleep(LOOK_EVERY)

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
                self._hold(at_work)
            self._settle(done)
            for delivery in waiting:
                self._invocation.settle(delivery, hand_back(delivery, self._invocation, reason=NOT_BEGUN))
            self._settle(waiting)
        finally:
            # what could not be settled comes back, and need not wait for the handler
            if self._batch.hosted is not None:
                self._batch.hosted.release([*done, *waiting], self._batch)
            self.claim([*done, *waiting])
            self._settling = False

    def _hold(self, at_work: list[Delivery]) -> None:
        """Keep messages hidden from now on, unless an extension does."""
        if self._batch.hides_for:
            return
        environment, hiding = self._batch.environment, self._hiding
        self._held = Beats(HOLD, hiding.hide, later=hiding.later, sleep=environment.sleep, clock=environment.clock)
        self._held.begin([message for message in self._batch.messages if delivery_of(message) in at_work])

    def _settle(self, deliveries: list[Delivery]) -> None:
        """Send what handlers sent that have ended, and settle the deliveries, while another handler is at work."""
        send_outgoing(self._batch)
        settle([delivery.message for delivery in deliveries], self._batch, complete_now=True)

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


def keep_process(invocation: Invocation) -> None:
    """Raise no exception again with which a handler wanted to end the process: all is settled, and Lambda starts none in its place."""
    if invocation.interruption is not None:
        name = type(invocation.interruption).__name__
        log_safely(log.warning, KEPT, name)
        invocation.interruption = None
