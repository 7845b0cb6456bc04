"""`RecoverableBatchProcessor`: the ladder under Powertools' `process_partial_response`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType

from ...attempt import run
from ...config import Recoverability
from ...observe import written
from ..ladder import LONGEST_DELAY, SETTLE_WITHIN, Ladder, response
from ..records import records_of
from .record_handler import Call, RecordHandler

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta
    from typing import Self

    from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
    from aws_lambda_powertools.utilities.typing import LambdaContext
    from mypy_boto3_sqs import SQSClient

    from ...attempt import Invocation
    from ...delivery import Counter, Delivery
    from ...settlements import Settlement
    from ...timeouts import Timeouts

    Answers = list[tuple[Any, ...]]

log = logging.getLogger("recoverable")


class RecoverableBatchProcessor(BatchProcessor):
    """A Powertools batch processor for standard SQS queues that gives each message the whole ladder.

    A record handler that has a parameter `message` gets the `Message` too, as one that has `lambda_context` gets that: its `id` is
    the one to be idempotent by, for a retry may come under another SQS message id. `success_handler` and `failure_handler` are called
    once for each attempt; what becomes of the message is the ladder's to decide.

    Args:
        recoverability: the ladder.
        model: a parser model of the record; what it cannot read is a `MessageDeserializationError`.
        logger: Powertools' from 3.30 on, for a warning about each failed attempt beside the ladder's own log.
        raise_on_entire_batch_failure: False, and nothing else.
        client: see `SqsEndpoint`, as for the rest.
        clock: gives the time, aware of its zone.
        counter: "native" or "header".
        handler_timeout: how long a handler may work on one message.
        settle_within: the part of the invocation's time that is kept for settling; the time is known when
            `process_partial_response` is given the context.
        longest_delay: how long one copy waits.
        timeouts: where longer delays are stored.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range, or a raise when a whole batch fails.
    """

    def __init__(
        self,
        recoverability: Recoverability = Recoverability(),
        *,
        model: type[SqsRecordModel] | None = None,
        logger: logging.Logger | None = None,
        raise_on_entire_batch_failure: bool = False,
        client: SQSClient | None = None,
        clock: Callable[[], datetime] | None = None,
        counter: Counter = "native",
        handler_timeout: timedelta | None = None,
        settle_within: timedelta = SETTLE_WITHIN,
        longest_delay: timedelta = LONGEST_DELAY,
        timeouts: Timeouts | None = None,
    ) -> None:
        if raise_on_entire_batch_failure:
            raise ValueError(
                "RecoverableBatchProcessor(raise_on_entire_batch_failure) is True; leave it out: when a batch raises, messages that the "
                "ladder has already forwarded may come back too. What failed is told by the response"
            )
        theirs = {} if logger is None else {"logger": logger}  # which Powertools before 3.30 does not know
        super().__init__(EventType.SQS, model, raise_on_entire_batch_failure=False, **theirs)
        self._ladder = Ladder(
            "RecoverableBatchProcessor",
            recoverability,
            client=client,
            clock=clock,
            counter=counter,
            handler_timeout=handler_timeout,
            settle_within=settle_within,
            longest_delay=longest_delay,
            timeouts=timeouts,
        )

    def __call__(
        self,
        records: list[dict[str, Any]],
        handler: Callable[..., Any],
        lambda_context: LambdaContext | None = None,
    ) -> Self:
        """Take the records, the handler and the context of one invocation, in place of the last one's.

        Raises:
            TypeError: the handler is no plain function.
        """
        self._record_handler = RecordHandler(handler, self.model, lambda_context)
        self._context = lambda_context
        super().__call__(records, handler, lambda_context)
        return self

    def process(self) -> Answers:
        """Send the batch through the ladder.

        Returns:
            What the hooks answered, one for each attempt, in the order in which they were made.

        Raises:
            ValueError: the records are of no standard SQS queue; nothing is settled, all of them come back.
        """
        event = {"Records": self.records}
        refuse_fifo(event)
        answers: Answers = []

        def drive(row: list[Delivery], invocation: Invocation) -> list[Settlement]:
            return [self._attempt(delivery, invocation, answers) for delivery in row]

        left = self._ladder.climb(event, self._context, drive)
        self.batch_response = cast("Any", response(left))  # Powertools has a type of its own for it
        return answers

    def async_process(self) -> Answers:
        """Refuse.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "RecoverableBatchProcessor runs plain functions; write process_partial_response instead of async_process_partial_response, "
            "or take recoverable.aws.SqsEndpoint, which runs coroutines"
        )

    def _prepare(self) -> None:
        """Forget the last invocation; until this one is settled, its response has the whole batch come back."""
        super()._prepare()  # type: ignore[no-untyped-call]  # Powertools gives it no types
        self.batch_response = {"batchItemFailures": [{"itemIdentifier": ""}]}

    def _clean(self) -> None:
        """Leave the response to the ladder: a message whose attempt failed may be forwarded, and is not reported then."""

    def _attempt(self, delivery: Delivery, invocation: Invocation, answers: Answers) -> Settlement:
        """One message through receipt, handler, hooks and recovery; see `recoverable.attempt.attempt`."""
        seconds = invocation.received(delivery)
        if not isinstance(seconds, float):
            return seconds
        call = Call(
            self._record_handler,
            lambda record, result: answers.append(self.success_handler(record=record, result=result)),
        )
        after = invocation.finished
        error = run(call, delivery.message, seconds, invocation.alarm)
        if error is not None and (failure := invocation.failure(error, seconds, after=after)) is not None:
            self._tell_failure(call.record_of(delivery.message), failure, answers)
        return invocation.ended(delivery, error, seconds, after=after)

    def _tell_failure(self, record: Any, failure: BaseException, answers: Answers) -> None:
        """Call the hook; what it raises is logged, for the message is judged by its own failure."""
        told = (type(failure), failure, failure.__traceback__)
        try:
            answers.append(self.failure_handler(record=record, exception=told))
        except Exception:  # noqa: BLE001  # told below, with its traceback
            text = "The failure_handler of %s raised. The message goes on as its own failure says."
            written(log.exception, text, type(self).__name__)


def refuse_fifo(event: dict[str, Any]) -> None:
    """Let standard queues pass.

    Raises:
        ValueError: the records are of a FIFO queue, or of no queue.
    """
    queue, _ = records_of(event)
    if queue.fifo:
        raise ValueError(
            f"'{queue.name}' is a FIFO queue, and RecoverableBatchProcessor serves standard queues; "
            "take recoverable.aws.SqsEndpoint, which keeps the order of each group"
        )
