"""Define `RecoverableBatchProcessor`, which Powertools' `process_partial_response` runs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType

from recoverable._config import Recoverability
from recoverable._flow.flow import attempt_all
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable.aws._batch import SqsProcessor, response
from recoverable.aws._records import records_of
from recoverable.aws._settings import SETTLE_WITHIN, SqsSettings
from recoverable.powertools._record_handler import Answers, HookedCalls, RecordHandler

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from datetime import datetime, timedelta
    from typing import Self

    from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
    from aws_lambda_powertools.utilities.typing import LambdaContext
    from mypy_boto3_sqs import SQSClient

    from recoverable._ladder.settlement import Counter
    from recoverable.timeouts import Timeouts


class RecoverableBatchProcessor(BatchProcessor):
    """A Powertools batch processor for standard SQS queues, with immediate retries, delayed retries and an error queue.

    A record handler with a parameter `message` gets the `Message` too, as one with `lambda_context` gets that. Be
    idempotent by the message's `id`: a retry may have another SQS message id. `success_handler` and `failure_handler`
    are called once for each attempt; they do not decide what happens to the message.

    Args:
        recoverability: the settings for retries and the error queue.
        model: a parser model of the record; a record that it cannot read is a `MessageDeserializationError`.
        logger: Powertools' logger, from 3.30 on, for a warning about each failed attempt besides this package's own
            log.
        raise_on_entire_batch_failure: False, and nothing else.
        client: see `SqsEndpoint`, as for the rest.
        clock: returns the time; without a zone, that of the machine.
        counter: "native" or "header".
        handler_timeout: how long a handler may work on one message.
        settle_within: the part of the invocation's time that is kept for settling; the time is known when
            `process_partial_response` is given the context.
        longest_delay: how long one copy waits.
        timeouts: stores longer delays.
        visibility_timeout: the shortest time for which anything hides a message that was received; None for what SQS
            says.
        retention: for how long the queue keeps a message; None for what SQS says.
        extensions: what watches or feeds it; with `S3Bodies` a record, and a model of it, has the body in place of the
            pointer.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range, or a raise when a whole batch fails.
    """

    def __init__(  # each setting has a name
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
        visibility_timeout: timedelta | None = None,
        retention: timedelta | None = None,
        extensions: tuple[object, ...] = (),
    ) -> None:
        if raise_on_entire_batch_failure:
            raise ValueError(
                "RecoverableBatchProcessor(raise_on_entire_batch_failure) is True; leave it out: when a batch raises, "
                "messages that were already forwarded may be redelivered too. The response names the messages that failed"
            )
        theirs = {} if logger is None else {"logger": logger}  # which Powertools before 3.30 does not know
        super().__init__(EventType.SQS, model, raise_on_entire_batch_failure=False, **theirs)
        settings = SqsSettings(
            "RecoverableBatchProcessor", recoverability, client=client, clock=clock, counter=counter,
            handler_timeout=handler_timeout, settle_within=settle_within, longest_delay=longest_delay, timeouts=timeouts,
            visibility_timeout=visibility_timeout, retention=retention, extensions=extensions,
        )  # fmt: skip
        self._processor = SqsProcessor(settings)

    def __call__(
        self, records: list[dict[str, Any]], handler: Callable[..., Any], lambda_context: LambdaContext | None = None
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
        """Process the batch: attempts, then settling.

        Returns:
            The results of the hooks, one for each attempt, in the order of the attempts.

        Raises:
            ValueError: the records are of no standard SQS queue; nothing is settled, and all of them are redelivered.
        """
        event = {"Records": self.records}
        refuse_fifo(event)
        calls = HookedCalls(self, self._record_handler, self._processor.settings.recoverability.redact)
        run_handlers = partial(attempt_all, handler=calls)
        unfinished = self._processor.process(event, self._context, run_handlers, on_failure=calls.report_failure)
        self.batch_response = cast("Any", response(unfinished))  # Powertools has a type of its own for it
        return calls.answers

    def async_process(self) -> Answers:
        """Raise NotImplementedError: this processor runs plain functions."""
        raise NotImplementedError(
            "RecoverableBatchProcessor runs plain functions; write process_partial_response instead of async_process_partial_response, "
            "or take recoverable.aws.SqsEndpoint, which runs coroutines"
        )

    def _prepare(self) -> None:
        """Reset what the last invocation left.

        Until this one is settled, the response reports the whole batch as failed.
        """
        super()._prepare()  # type: ignore[no-untyped-call]  # Powertools gives it no types
        self.batch_response = {"batchItemFailures": [{"itemIdentifier": ""}]}

    def _clean(self) -> None:
        """Do nothing: `process` sets the response.

        A message whose attempt failed may be forwarded, and is then not reported.
        """


def refuse_fifo(event: dict[str, Any]) -> None:
    """Raise ValueError if the records are of a FIFO queue, or of none."""
    queue, _ = records_of(event)
    if queue.fifo:
        raise ValueError(
            f"'{queue.name}' is a FIFO queue, and RecoverableBatchProcessor serves standard queues; "
            "take recoverable.aws.SqsEndpoint, which keeps the order of each group"
        )
