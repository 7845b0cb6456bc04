"""Check an SQS endpoint's settings and process batches with them: what the endpoint and the Powertools processor share."""

from __future__ import annotations

import os
from datetime import timedelta

from recoverable._config import Recoverability
from recoverable._flow.deadline import FOREVER, Deadline
from recoverable._flow.invocation import Invocation
from recoverable._ladder.delivery import Platform
from recoverable._limits import checked_delay
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable.aws._batch import process_batch
from recoverable.aws._records import messages_of, records_of
from recoverable.aws._time_budget import LONGEST_INVOCATION, TimeBudget
from recoverable.hosting import Environment, current_environment, utc_clock

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any, TypeAlias, TypedDict

    from mypy_boto3_sqs import SQSClient

    from recoverable._ladder.delivery import Counter, Delivery
    from recoverable._message import Message
    from recoverable._outgoing.outbox import Sender
    from recoverable._rate_limit.limiter import Limiter
    from recoverable._rate_limit.store import Breaker
    from recoverable._sqs.queues import Queue
    from recoverable.aws._batch import ProcessBatch, RunHandlers
    from recoverable.aws._large_bodies import S3Bodies
    from recoverable.timeouts import Timeouts

    OnFailure: TypeAlias = Callable[[Message, BaseException], None]

    class Failure(TypedDict):
        """One message that is to be delivered again."""

        itemIdentifier: str

    class Response(TypedDict):
        """The answer to an event source mapping with ReportBatchItemFailures."""

        batchItemFailures: list[Failure]


LONGEST_NAME = 80
"""Characters of a queue's name (Amazon SQS, CreateQueue)."""

SETTLE_WITHIN = timedelta(seconds=3)
"""What is kept of an invocation's time for settling, unless said otherwise."""

DEFAULTS = ("native", LONGEST_DELAY, None, None, None, None, None, None)
"""The settings that most endpoints leave out, in the order in which they are checked where one is given."""


class SqsProcessor:
    """Settings, checked, and what processes batches with them; it changes with no invocation. `recoverability` has its error queue resolved.

    Args:
        owner: the name of the class that was given the settings, for errors.
        recoverability: the ladder.
        client: see `SqsEndpoint`, as for the rest.
        clock: gives the time.
        counter: "native" or "header".
        handler_timeout: how long a handler may work on one message.
        settle_within: the time kept for settling.
        longest_delay: how long one copy waits.
        timeouts: where copies are stored that must wait longer; None for hops.
        visibility_timeout: the shortest time for which a received message stays hidden.
        large_bodies: the buckets from which bodies are read; None where none are.
        heartbeat: for how long messages are hidden at a time while the invocation has them; None for the queue's own time-out.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range.
    """

    def __init__(
        self,
        owner: str,
        recoverability: Recoverability,
        *,
        client: SQSClient | None,
        clock: Callable[[], datetime] | None,
        counter: Counter,
        handler_timeout: timedelta | None,
        settle_within: timedelta,
        longest_delay: timedelta,
        timeouts: Timeouts | None = None,
        visibility_timeout: timedelta | None = None,
        large_bodies: S3Bodies | None = None,
        heartbeat: timedelta | None = None,
    ) -> None:
        self._settle_within = checked_delay(f"{owner}(settle_within)", settle_within, LONGEST_INVOCATION)
        self.recoverability = with_error_queue(owner, recoverability)
        given = (counter, longest_delay, client, handler_timeout, timeouts, visibility_timeout, large_bodies, heartbeat)
        self._process_batch: ProcessBatch = process_batch
        on_managed_instances = "AWS_LAMBDA_MAX_CONCURRENCY" in os.environ
        if given != DEFAULTS or recoverability.observe is not None or on_managed_instances:
            from recoverable.aws._optional_settings import check_settings, processing  # noqa: PLC0415  # most give none

            check_settings(owner, *given, settle_within=self._settle_within)
            self._process_batch = processing(heartbeat, large_bodies, recoverability.observe)
        self._environment = Environment(client, utc_clock(clock), Deadline)
        self._own_seconds = FOREVER if handler_timeout is None else handler_timeout.total_seconds()
        self._visibility_timeout, self._timeouts = visibility_timeout, timeouts
        # the names by which operators know the function, and the log stream of this instance
        setting = os.environ.get
        host, machine = setting("AWS_LAMBDA_FUNCTION_NAME", "local"), setting("AWS_LAMBDA_LOG_STREAM_NAME", "local")
        self._standard = Platform(counter, longest_delay=longest_delay, is_source=is_source, host=host, machine=machine)
        self._fifo = Platform(redelivers_only=True, is_source=is_source, host=host, machine=machine)

    def process(
        self,
        event: dict[str, Any],
        context: Any,
        run_handlers: RunHandlers,
        *,
        partial: bool = True,
        on_failure: OnFailure | None = None,
    ) -> list[Delivery]:
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
        queue, records = records_of(event)
        platform = self._fifo if queue.fifo else self._standard
        messages, restored = messages_of(records, queue, self.recoverability, platform)
        environment = current_environment.get() or self._environment
        handed_back = 0 if platform.redelivers_only else len(messages)
        time = TimeBudget(context, self._settle_within, handed_back, self._visibility_timeout)
        with environment.deadline(time.for_handlers, self._own_seconds) as deadline:
            invocation = self._invocation(queue, platform, environment, time, deadline, on_failure)
            unfinished = self._process_batch(
                messages, restored, queue, run_handlers, invocation, time,
                environment=environment, timeouts=self._timeouts, partial=partial,
            )  # fmt: skip
        invocation.forget_errors()
        if invocation.interruption is not None:
            raise invocation.interruption
        return unfinished

    def _invocation(
        self, queue: Queue, platform: Platform, environment: Environment, time: TimeBudget, deadline: Deadline,
        on_failure: OnFailure | None,
    ) -> Invocation:  # fmt: skip
        """Return what the attempts of one invocation share."""

        def sender() -> Sender:
            from recoverable.aws._send import sender_for  # noqa: PLC0415  # for handlers that send

            return sender_for(invocation, queue, environment, time, self._timeouts)

        invocation = time.invocation = Invocation(
            self.recoverability, platform, environment.clock, deadline, context=time.context, sender=sender,
            seconds_for_retries=time.for_handlers, limiter=self._limiter(environment, may_defer=not platform.redelivers_only),
            on_failure=on_failure,
        )  # fmt: skip
        return invocation

    @property
    def breaker(self) -> Breaker | None:
        """Return what this instance knows of the circuit that limits the rate; None without a `RateLimit`."""
        limiter = self._limiter(current_environment.get() or self._environment, may_defer=True)
        return limiter.breaker if limiter else None

    def _limiter(self, environment: Environment, *, may_defer: bool) -> Limiter | None:
        if self.recoverability.rate_limit is None:
            return None
        from recoverable._rate_limit.limiter import limiter_for  # noqa: PLC0415  # imported for those who limit the rate

        limit = self.recoverability.rate_limit
        return limiter_for(self, limit, self.recoverability, environment, may_defer=may_defer, in_batches=True)


def response(unfinished: list[Delivery]) -> Response:
    """Return the answer for the event source mapping: the messages that are to be delivered again."""
    return {"batchItemFailures": [{"itemIdentifier": delivery.native["messageId"]} for delivery in unfinished]}


def with_error_queue(owner: str, recoverability: Recoverability) -> Recoverability:
    """Return the settings with the error queue named: as given, else by the environment, else "error".

    Raises:
        TypeError: no settings.
        ValueError: the error queue is no name, ARN or URL of an SQS queue: refused now, not when the first message fails.
    """
    if not isinstance(recoverability, Recoverability):
        raise TypeError(f"{owner}(recoverability) is {recoverability!r}; write Recoverability(...)")
    name = recoverability.failed.error_queue or os.environ.get("RECOVERABLE_ERROR_QUEUE") or "error"
    if len(name) > LONGEST_NAME or not (name.isascii() and name.replace("-", "_").isidentifier()):
        from recoverable._sqs.names import check_error_queue  # noqa: PLC0415  # most are plain names

        check_error_queue(owner, name)
    return recoverability.replace(failed=recoverability.failed.replace(error_queue=name))


def is_source(name: str, delivery: Delivery) -> bool:
    """True if a name, an ARN or a URL is that of the queue that a delivery came from."""
    from recoverable._sqs.names import names_source  # noqa: PLC0415  # the failure side

    return names_source(name, delivery.native["eventSourceARN"])
