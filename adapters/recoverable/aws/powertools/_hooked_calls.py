"""Call the record handler, and the hooks of the user's processor, for each attempt."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeAlias

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from recoverable._observe.log import log_safely

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch import BatchProcessor

    from recoverable._ladder.faults import Redact
    from recoverable._message import Message
    from recoverable.aws.powertools._record_handler import RecordHandler

log = logging.getLogger("recoverable")

Answers: TypeAlias = list[tuple[Any, ...]]


class HookedCalls:
    """A handler for the messages of one invocation.

    It calls the record handler, and the processor's hooks after each attempt.

    Args:
        processor: has the hooks.
        handler: the record handler.
        redact: the user's redactor.
    """

    def __init__(self, processor: BatchProcessor, handler: RecordHandler, redact: Redact | None = None) -> None:
        self._processor, self._handler, self._redact = processor, handler, redact
        # as the handler got them: what it sends may be refused when others have run
        self._records: dict[Message, Any] = {}
        self.answers: Answers = []

    def __call__(self, message: Message) -> None:
        """Read the record, handle it and call the success hook.

        An exception of any of the three is the attempt's failure.
        """
        record = self._records[message] = self._handler.parse_record(message)
        result = self._handler.handle(record, message)
        self.answers.append(self._processor.success_handler(record=message.native, result=result))

    def report_failure(self, message: Message, failure: BaseException) -> None:
        """Call the failure hook; an exception of its own is logged, and recovery goes on with the message's failure."""
        record = self._records.get(message, SQSRecord(message.native))
        exception_info = (type(failure), failure, failure.__traceback__)
        try:
            self.answers.append(self._processor.failure_handler(record=record, exception=exception_info))
        except Exception as error:  # noqa: BLE001  # logged, with its traceback
            text = (
                "Calling failure_handler of %s failed. Recovery goes on with the message's own failure. "
                "Check the traceback of this log entry."
            )
            info = (type(error), error, error.__traceback__)
            log_safely(log.error, text, type(self._processor).__name__, exc_info=info, redact=self._redact)
