"""Process batches of SQS with the settings of an endpoint: what the endpoint and the Powertools processor share."""

from __future__ import annotations

import os

from recoverable._flow.deadline import FOREVER, Deadline
from recoverable._flow.invocation import Invocation
from recoverable.aws._batch import process_batch
from recoverable.aws._records import messages_of, records_of
from recoverable.aws._time_budget import TimeBudget
from recoverable.hosting import Environment, current_environment, utc_clock

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypedDict

    from recoverable._flow.invocation import Lease
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._outgoing.outbox import Sender
    from recoverable._rate_limit.limiter import Limiter
    from recoverable._rate_limit.store import Breaker
    from recoverable.aws._batch import ProcessBatch, RunHandlers
    from recoverable.aws._settings import SqsSettings

    OnFailure: TypeAlias = Callable[[Message, BaseException], None]

    class Failure(TypedDict):
        """One message that is to be delivered again."""

        itemIdentifier: str

    class Response(TypedDict):
        """The answer to an event source mapping with ReportBatchItemFailures."""

        batchItemFailures: list[Failure]


class SqsProcessor:
    """Settings, and what processes batches with them; it changes with no invocation.

    Args:
        settings: the endpoint's.
    """

    def __init__(self, settings: SqsSettings) -> None:
        self.settings, self.recoverability, own = settings, settings.recoverability, settings.handler_timeout
        self._process_batch: ProcessBatch = process_batch
        optional = (settings.heartbeat, settings.large_bodies, settings.recoverability.observe)
        if optional != (None, None, None) or "AWS_LAMBDA_MAX_CONCURRENCY" in os.environ:
            from recoverable.aws._options import processing  # noqa: PLC0415  # most endpoints have none

            self._process_batch = processing(settings)
        self._environment = Environment(settings.client, utc_clock(settings.clock), Deadline)
        self._own_seconds = FOREVER if own is None else own.total_seconds()
        self._standard, self._fifo = settings.platform(fifo=False), settings.platform(fifo=True)
        self._has_served_fifo = False

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
        time = TimeBudget(context, settings.settle_within, handed_back, settings.visibility_timeout)
        if queue.fifo and not self._has_served_fifo:
            from recoverable.aws._fifo import warn_of_long_delays  # noqa: PLC0415  # at the first batch of such a queue

            self._has_served_fifo = True
            warn_of_long_delays(self.recoverability.delayed, queue, time)

        def sender() -> Sender:
            from recoverable.aws._send import sender_for  # noqa: PLC0415  # for handlers that send

            return sender_for(invocation, queue, environment, time, settings.timeouts)

        def lease() -> Lease:
            from recoverable.aws._lease import lease_for  # noqa: PLC0415  # the failure side

            return lease_for(messages, queue, environment, time, invocation, settings)

        with environment.deadline(time.for_handlers, self._own_seconds) as deadline:
            invocation = time.invocation = Invocation(
                self.recoverability, platform, environment.clock, deadline, context=context, sender=sender, lease=lease,
                seconds_for_retries=time.for_handlers, limiter=self._limiter(environment),
                on_failure=on_failure,
            )  # fmt: skip
            unfinished = self._process_batch(
                messages, restored, queue, run_handlers, invocation, time,
                environment=environment, timeouts=settings.timeouts, partial=partial,
            )  # fmt: skip
        invocation.forget_errors()
        if invocation.interruption is not None:
            raise invocation.interruption
        return unfinished

    @property
    def breaker(self) -> Breaker | None:
        """Return what this instance knows of the circuit that limits the rate; None without a `RateLimit`."""
        limiter = self._limiter(current_environment.get() or self._environment)
        return limiter.breaker if limiter else None

    def _limiter(self, environment: Environment) -> Limiter | None:
        if self.recoverability.rate_limit is None:
            return None
        from recoverable._rate_limit.limiter import limiter_for  # noqa: PLC0415  # imported for those who limit the rate

        limit = self.recoverability.rate_limit
        return limiter_for(self, limit, self.recoverability, environment, may_defer=True, in_batches=True)


def response(unfinished: list[Delivery]) -> Response:
    """Return the answer for the event source mapping: the messages that are to be delivered again."""
    return {"batchItemFailures": [{"itemIdentifier": delivery.native["messageId"]} for delivery in unfinished]}
