"""Process the batches of an event source mapping: records → handlers → settling."""

from __future__ import annotations

import os
from functools import cached_property

from recoverable._flow.deadline import FOREVER, Deadline
from recoverable._flow.invocation import Invocation
from recoverable._ladder.settlement import COMPLETE
from recoverable._rate_limit import gates_of
from recoverable._variables import FACTS_FILE
from recoverable.aws._records import messages_of, records_of
from recoverable.aws._time_budget import TimeBudget
from recoverable.hosting import Environment, current_environment, utc_clock

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias, TypedDict

    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._rate_limit.limiter import Limiter
    from recoverable._rate_limit.store import Breaker
    from recoverable._sqs.broker import Broker
    from recoverable._sqs.queues import Queue
    from recoverable.aws._hosted import Hosted
    from recoverable.aws._lease import HiddenLease, OrderedLease
    from recoverable.aws._outgoing import SqsSender
    from recoverable.aws._settings import SqsSettings

    OnFailure: TypeAlias = Callable[[Message, BaseException], None]
    RunHandlers: TypeAlias = Callable[[Iterator[Message], Invocation], object]
    """Takes a group of messages through the flow, or its first ones where what they send must leave first."""

    class Failure(TypedDict):
        """One message that is to be delivered again."""

        itemIdentifier: str

    class Response(TypedDict):
        """The answer to an event source mapping with ReportBatchItemFailures."""

        batchItemFailures: list[Failure]


MAX_CONCURRENCY = "AWS_LAMBDA_MAX_CONCURRENCY"
"""The variable that Lambda sets on Managed Instances: the processes of one environment."""


class Batch:
    """The records of one invocation, and all that processing them works with. It is passed on whole, and nothing of it is replaced.

    Args:
        messages: the records.
        restored: the deliveries of those that were delivered before, or carry headers.
        queue: where they came from.
        invocation: what the attempts run in.
        time: the invocation's time.
        environment: client, clock and what else a host brings.
        settings: the endpoint's.
        partial: True if the event source mapping deletes what is not reported.
        hosted: who takes part beside the handlers; None where nobody does.
    """

    def __init__(
        self, messages: list[Message], restored: list[Delivery], queue: Queue, invocation: Invocation, time: TimeBudget,
        environment: Environment, settings: SqsSettings, partial: bool, hosted: Hosted | None,  # noqa: FBT001  # given by name
    ) -> None:  # fmt: skip
        self.messages, self.restored, self.queue, self.invocation = messages, restored, queue, invocation
        self.time, self.environment, self.settings, self.partial = time, environment, settings, partial
        self.hosted = hosted

    @cached_property
    def broker(self) -> Broker:
        """Return what calls SQS in the time of the invocation."""
        made: Broker = behind().Broker(self.queue, self.environment, self.time)
        return made

    @cached_property
    def lease(self) -> HiddenLease | OrderedLease:
        """Return what knows for how long the invocation has its messages."""
        kind = behind().OrderedLease if self.invocation.platform.redelivers_only else behind().HiddenLease
        made: HiddenLease | OrderedLease = kind(self)
        return made

    @cached_property
    def sender(self) -> SqsSender:
        """Return what takes the outgoing messages of handlers."""
        clock, stores = self.environment.clock, self.settings.timeouts is not None
        made: SqsSender = behind().SqsSender(self.queue, clock, self.broker.client_for, stores_delays=stores)
        return made

    @property
    def hides_for(self) -> int:
        """Return for how many seconds at a time an extension keeps the messages hidden; 0 where none does."""
        return 0 if self.hosted is None else self.hosted.hides_for


class SqsProcessor:
    """Settings, and what processes batches with them; it changes with no invocation.

    Args:
        settings: the endpoint's.
    """

    def __init__(self, settings: SqsSettings) -> None:
        self.settings, self.recoverability, own = settings, settings.recoverability, settings.handler_timeout
        self._watched, self._facts_file = MAX_CONCURRENCY in os.environ, os.environ.get(FACTS_FILE)
        self._hosts = bool(settings.extensions) or self._watched or self._facts_file is not None
        self._environment = Environment(settings.client, utc_clock(settings.clock), Deadline)
        self._own_seconds = FOREVER if own is None else own.total_seconds()
        self._standard, self._fifo = settings.platform(fifo=False), settings.platform(fifo=True)

    def process(
        self, event: dict[str, Any], context: Any, run_handlers: RunHandlers,
        *, partial: bool = True, on_failure: OnFailure | None = None,
    ) -> list[Delivery]:  # fmt: skip
        """Process one batch: attempts, then settling.

        Args:
            event: what the event source mapping sends.
            context: Lambda's; without one there is no time limit.
            run_handlers: takes a group of messages through the flow.
            partial: True if the event source mapping deletes what is not reported.
            on_failure: called with the message and the exception of each failed attempt.

        Returns:
            The messages that SQS must deliver again.

        Raises:
            ValueError: the event is no SQS event; nothing is settled, all of it comes back.
        """
        settings, (queue, records) = self.settings, records_of(event)
        platform = self._fifo if queue.fifo else self._standard
        environment = current_environment.get() or self._environment
        hosted = self._hosted(environment, context)
        if hosted is not None:
            records = hosted.received(records)
        messages, restored = messages_of(records, queue, self.recoverability, platform)
        handed_back = 0 if platform.redelivers_only else len(messages)
        time = TimeBudget(context, settings.settle_within, handed_back, environment.kept)
        with environment.deadline(time.for_handlers, self._own_seconds) as deadline:
            invocation = time.invocation = Invocation(
                self.recoverability, platform, environment, deadline, context=context,
                record=None if hosted is None else hosted.record, sender=lambda: batch.sender,
                must_send=lambda: behind().must_send(batch), lease=lambda: batch.lease,
                seconds_for_retries=time.for_handlers, gates=self._gates(environment), on_failure=on_failure,
            )  # fmt: skip
            batch = Batch(messages, restored, queue, invocation, time, environment, settings, partial, hosted)
            unfinished = process_batch(batch, run_handlers) if hosted is None else hosted.process(batch, run_handlers)
        # cut from what holds it, so that all is freed at once, and no garbage collection has to find it
        time.invocation = time.for_handlers = invocation.sender = invocation.must_send = invocation.make_lease = None
        for delivery in invocation.failed:
            delivery.error = None  # by its traceback it holds its frames, and with them all messages
        if invocation.interruption is not None:
            raise behind().interruption_of(invocation)
        return unfinished

    @property
    def breaker(self) -> Breaker | None:
        """Return what this instance knows of the circuit that limits the rate; None without a `RateLimit`."""
        environment = current_environment.get() or self._environment
        gates = self._gates(environment)
        return gates[0].breaker if gates else None

    def _gates(self, environment: Environment) -> tuple[Limiter, ...]:
        limit = self.recoverability.rate_limit
        return () if limit is None else gates_of(self, limit, self.recoverability.redact, environment, in_batches=True)

    def _hosted(self, environment: Environment, context: Any) -> Hosted | None:
        # what may not be deleted must be known where all succeeds, too
        if not (self._hosts or environment.extensions or environment.denied):
            return None
        extensions = (*self.settings.extensions, *environment.extensions)
        hosted: Hosted = behind().Hosted(
            extensions, self.recoverability, environment, context, self._facts_file, watched=self._watched
        )
        return hosted


def behind() -> Any:
    """Return the module of all but what new messages that succeed need."""
    import recoverable.aws._hosted as module  # noqa: PLC0415  # door: to what fails, sends, keeps its order or takes part

    return module


def process_batch(batch: Batch, run_handlers: RunHandlers) -> list[Delivery]:
    """Run and settle the records of one invocation; return those that SQS must deliver again.

    New messages of a standard queue run together, and a new message of a FIFO queue that came alone. Where all succeed
    and the event source mapping deletes them, nothing is left to do.
    """
    messages, invocation, rest = batch.messages, batch.invocation, None
    if not (batch.restored or (invocation.platform.redelivers_only and len(messages) > 1)):
        run_handlers(rest := iter(messages), invocation)
        all_succeeded = [*map(invocation.settlements.get, messages)].count(COMPLETE) == len(messages)
        if all_succeeded and invocation.interruption is None:
            return []
    unfinished: list[Delivery] = behind().process_groups(batch, run_handlers, rest)
    return unfinished


def response(unfinished: list[Delivery]) -> Response:
    """Return the answer for the event source mapping: the messages that are to be delivered again."""
    return {"batchItemFailures": [{"itemIdentifier": delivery.native["messageId"]} for delivery in unfinished]}
