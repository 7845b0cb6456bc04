"""Run a batch with the parts that extensions take in it, and as Managed Instances need it: both may touch its messages beside the handlers."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from recoverable._flow.flow import drive
from recoverable._flow.for_host import tell_extensions
from recoverable._ladder.delivery import delivery_of
from recoverable._observe.extension import Batch as View
from recoverable._observe.extension import Hidden, call_later
from recoverable._observe.record import record_for, request_id_of
from recoverable._sqs.broker import Broker, call_within
from recoverable._sqs.names import destination
from recoverable.aws._groups import interruption_of, process_groups
from recoverable.aws._lease import HiddenLease, OrderedLease, hide
from recoverable.aws._managed import Watch
from recoverable.aws._outgoing import SqsSender
from recoverable.aws._send import must_send, warm_up
from recoverable.aws._time_budget import TimeBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recoverable._config import Recoverability
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable.aws._batch import Batch, RunHandlers
    from recoverable.hosting import Environment


__all__ = [
    "Broker", "HiddenLease", "Hosted", "OrderedLease", "SqsSender", "interruption_of", "must_send", "process_groups", "warm_up",
]  # fmt: skip


class Hosted:
    """Those who take part in one invocation beside its handlers.

    Args:
        extensions: those of the endpoint, and of a test.
        recoverability: the settings.
        environment: client, clock and what else a host brings.
        context: Lambda's; None where there is none.
        facts_file: the path of the file that takes all facts as JSON; None for no such file.
        watched: True if the process goes on when the invocation's time is over.
    """

    def __init__(
        self, extensions: tuple[object, ...], recoverability: Recoverability, environment: Environment, context: Any,
        facts_file: str | None, *, watched: bool,
    ) -> None:  # fmt: skip
        self._watched = watched
        self.record = record_for(extensions, recoverability, environment, context, facts_file)
        self.watch: Watch | None = None
        """Settles beside the handlers on Managed Instances, and knows what is settled already; None elsewhere."""

    def received(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the records as the extensions give them, before anything is read of them."""
        return records if self.record is None else self.record.parts.received(records)

    @property
    def hides_for(self) -> int:
        """Return for how many seconds at a time an extension keeps the messages hidden; 0 where none does."""
        return 0 if self.record is None else self.record.parts.hides_for()

    def process(self, batch: Batch, run_handlers: RunHandlers) -> list[Delivery]:
        """Run and settle the batch; return the messages that SQS must deliver again."""
        record, invocation = self.record, batch.invocation
        try:
            if record is not None:
                record.parts.open(Hiding(batch).view(), [each.message for each in batch.restored])
            if self._watched:
                self.watch = Watch(batch, Hiding(batch))
                with self.watch.begun():
                    unfinished = process_groups(batch, partial(self.watch.run, run_handlers))
                    unfinished += self.watch.complete_late()
            else:
                unfinished = process_groups(batch, run_handlers)
            if record is not None:
                drive(
                    tell_extensions(record, invocation, unfinished, batch.time.remaining),
                    no_handler,
                    invocation.deadline,
                )
        finally:
            if record is not None:
                record.parts.close()
        return unfinished

    def release(self, deliveries: list[Delivery], batch: Batch) -> None:
        """Have nobody else touch these any more: the next call to SQS settles them."""
        if self.record is not None:
            self.record.parts.release([message for message in batch.messages if delivery_of(message) in deliveries])
        if self.watch is not None:
            self.watch.end(deliveries)


class Hiding:
    """The means to hide the messages of a batch, for extensions and the watch.

    Args:
        batch: the records.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    @cached_property
    def _broker_beside(self) -> Broker:
        """Return what calls SQS beside the handlers: its calls have a time of their own, and are bounded like the invocation's."""
        batch = self._batch
        return Broker(batch.queue, batch.environment, TimeBudget(None, timedelta(seconds=2 * batch.time.call_timeout)))

    def hide(self, messages: Sequence[Message], seconds: int) -> Hidden:
        """Hide messages for so many seconds from now, ten at most, beside the handlers; log what fails."""
        gone, fails = hide([delivery_of(message) for message in messages], seconds, self._broker_beside, self._batch)
        return Hidden([message for message in messages if delivery_of(message) in gone], fails)

    def later(self, seconds: float, function: Callable[[], None]) -> Callable[[], None]:
        """Call a function after so many seconds, beside the handlers; return a function that cancels that."""
        return (self._batch.environment.later or call_later)(seconds, function)

    def view(self) -> View:
        """Return the batch as extensions see it."""
        batch, environment = self._batch, self._batch.environment
        gates = batch.invocation.gates
        return View(
            "aws", batch.queue.name, batch.messages, request_id_of(batch.invocation.context), batch.invocation.redact,
            environment.clock, time_left=batch.time.remaining, settle_within=batch.time.reserve,
            is_limited=lambda: any(gate.is_limited for gate in gates) if gates else None,
            client_for=self._client_for, call_within=environment.call_within or call_within,
            change_visibility=self.hide, later=self.later, sleep=environment.sleep,
        )  # fmt: skip

    def _client_for(self, queue: str) -> tuple[Any, str]:
        """Return the client for a queue, and the queue's URL."""
        to = destination(queue, self._batch.queue)
        client = self._batch.broker.client_for(to)
        return client, to.url_at(client.meta.endpoint_url)


def no_handler(message: Message) -> None:
    """Raise: what tells extensions runs no handler."""
    raise AssertionError(message.id)
