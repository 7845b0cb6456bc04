"""Process the batches of an event source mapping: records → handlers → settling, a group of messages after the other."""

from __future__ import annotations

import os
from functools import cached_property, partial

from recoverable._flow.deadline import FOREVER, Deadline
from recoverable._flow.invocation import Invocation
from recoverable._ladder.settlement import COMPLETE
from recoverable.aws._records import messages_of, records_of
from recoverable.aws._time_budget import TimeBudget
from recoverable.hosting import FACTS_FILE, Environment, current_environment, utc_clock

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias, TypedDict

    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._outgoing.outbox import Sender
    from recoverable._rate_limit.limiter import Limiter
    from recoverable._rate_limit.store import Breaker
    from recoverable._sqs.broker import Broker
    from recoverable._sqs.queues import Queue
    from recoverable.aws._lease import HiddenLease, OrderedLease
    from recoverable.aws._settings import SqsSettings

    Group: TypeAlias = tuple[list[Message], bool]
    """Messages that are settled together, and whether their handlers run; else those without a settlement are handed back."""

    OnFailure: TypeAlias = Callable[[Message, BaseException], None]
    RunHandlers: TypeAlias = Callable[[Iterator[Message], Invocation], object]
    """Takes a group of messages through the flow, or its first ones where what they send must leave first."""

    QueueLease: TypeAlias = HiddenLease | OrderedLease

    ProcessBatch: TypeAlias = Callable[["Batch", RunHandlers], list[Delivery]]

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
    """

    def __init__(
        self, messages: list[Message], restored: list[Delivery], queue: Queue, invocation: Invocation, time: TimeBudget,
        environment: Environment, settings: SqsSettings, partial: bool,  # noqa: FBT001  # given by name
    ) -> None:  # fmt: skip
        self.messages, self.restored, self.queue, self.invocation = messages, restored, queue, invocation
        self.time, self.environment, self.settings, self.partial = time, environment, settings, partial

    @cached_property
    def broker(self) -> Broker:
        """Return what calls SQS in the time of the invocation."""
        from recoverable._sqs.broker import Broker  # noqa: PLC0415  # most invocations make no call

        return Broker(self.queue, self.environment, self.time)

    @cached_property
    def lease(self) -> QueueLease:
        """Return what knows for how long the invocation has its messages."""
        from recoverable.aws._lease import HiddenLease, OrderedLease  # noqa: PLC0415  # the failure side

        return OrderedLease(self) if self.invocation.platform.redelivers_only else HiddenLease(self)


class SqsProcessor:
    """Settings, and what processes batches with them; it changes with no invocation.

    Args:
        settings: the endpoint's.
    """

    def __init__(self, settings: SqsSettings) -> None:
        self.settings, self.recoverability, own = settings, settings.recoverability, settings.handler_timeout
        self._process_batch: ProcessBatch = process_batch
        options = settings.heartbeat or settings.large_bodies or settings.recoverability.observe
        if options is not None or MAX_CONCURRENCY in os.environ or FACTS_FILE in os.environ:
            from recoverable.aws._options import process_with_options  # noqa: PLC0415  # most endpoints have none

            managed = MAX_CONCURRENCY in os.environ
            self._process_batch = partial(process_with_options, process_batch=process_batch, managed=managed)
        client: Any = settings.client
        if client is not None:
            from recoverable._sqs.clients import given_client  # noqa: PLC0415  # for those who give one

            client = given_client(client)
        self._environment = Environment(client, utc_clock(settings.clock), Deadline)
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
        messages, restored = messages_of(records, queue, self.recoverability, platform)
        environment = current_environment.get() or self._environment
        handed_back = 0 if platform.redelivers_only else len(messages)
        time = TimeBudget(context, settings.settle_within, handed_back, environment.kept)

        def sender() -> Sender:
            from recoverable.aws._send import sender_for  # noqa: PLC0415  # for handlers that send

            return sender_for(batch)

        with environment.deadline(time.for_handlers, self._own_seconds) as deadline:
            invocation = time.invocation = Invocation(
                self.recoverability, platform, environment.clock, deadline, context=context, sender=sender, lease=lambda: batch.lease,
                seconds_for_retries=time.for_handlers, limiter=self._limiter(environment), on_failure=on_failure,
            )  # fmt: skip
            batch = Batch(messages, restored, queue, invocation, time, environment, settings, partial)
            unfinished = self._process_batch(batch, run_handlers)
        # cut from what holds it, so that all is freed at once, and no garbage collection has to find it
        time.invocation = time.for_handlers = invocation.sender = invocation.make_lease = None
        for delivery in invocation.failed:
            delivery.error = None  # by its traceback it holds its frames, and with them all messages
        if invocation.interruption is not None:
            raise invocation.interruption
        return unfinished

    @property
    def breaker(self) -> Breaker | None:
        """Return what this instance knows of the circuit that limits the rate; None without a `RateLimit`."""
        return getattr(self._limiter(current_environment.get() or self._environment), "breaker", None)

    def _limiter(self, environment: Environment) -> Limiter | None:
        if (limit := self.recoverability.rate_limit) is None:
            return None
        from recoverable._rate_limit.limiter import limiter_for  # noqa: PLC0415  # few endpoints limit the rate

        return limiter_for(self, limit, self.recoverability, environment, in_batches=True)


def process_batch(batch: Batch, run_handlers: RunHandlers) -> list[Delivery]:
    """Run and settle the records of one invocation, each group before the next one runs; return those that SQS must deliver again."""
    invocation, settlements, partial, settled = batch.invocation, batch.invocation.settlements, batch.partial, 0
    unfinished: list[Delivery] = []
    for group, runs in groups_of(batch, unfinished):
        if runs:
            run_handlers(rest := iter(group), invocation)
            while invocation.outgoing:
                from recoverable.aws._send import send_outgoing  # noqa: PLC0415  # for handlers that send

                send_outgoing(batch)
                run_handlers(rest, invocation)  # none, unless what the others sent had to leave first
        else:
            from recoverable.aws._order import hand_back_group  # noqa: PLC0415  # it was imported to order them

            hand_back_group(group, batch)
        settled += len(group)
        succeeded = [*map(settlements.get, group)].count(COMPLETE) == len(group)
        if not (succeeded or partial):
            from recoverable.aws._settle import are_completed  # noqa: PLC0415  # as below

            succeeded = are_completed(group, invocation)
        fails = invocation.interruption is not None or not (partial or (succeeded and not unfinished))
        # an invocation that fails has nothing deleted by the mapping
        complete_now = fails or settled < len(batch.messages) or invocation.completes
        if complete_now or not succeeded:
            from recoverable.aws._settle import settle  # noqa: PLC0415  # the failure side of this platform

            unfinished += settle(group, batch, complete_now=complete_now)
    return unfinished


def groups_of(batch: Batch, unfinished: list[Delivery]) -> Iterable[Group]:
    """Return the messages in groups, each to be settled before the next one is asked for; see `_order.groups` and `_fifo.fifo_batch`.

    New messages of a standard queue run together, and a new message of a FIFO queue that came alone.

    Args:
        batch: the records.
        unfinished: those that were settled and come back; it grows while this runs.
    """
    fifo = batch.invocation.platform.redelivers_only
    if not batch.restored and (not fifo or len(batch.messages) == 1):
        return ((batch.messages, True),)
    batch.invocation.completes |= any(delivery.carried.servicecontrol_retry for delivery in batch.restored)
    if fifo:
        from recoverable.aws._fifo import fifo_batch  # noqa: PLC0415  # for such queues

        return fifo_batch(batch, unfinished)
    from recoverable.aws._order import standard_batch  # noqa: PLC0415  # most batches have no such record

    return standard_batch(batch)


def response(unfinished: list[Delivery]) -> Response:
    """Return the answer for the event source mapping: the messages that are to be delivered again."""
    return {"batchItemFailures": [{"itemIdentifier": delivery.native["messageId"]} for delivery in unfinished]}
