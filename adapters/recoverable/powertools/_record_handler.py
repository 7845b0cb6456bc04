"""Check the user's record handler, and call it, and the hooks of the user's processor, for each attempt."""

from __future__ import annotations

import logging
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from recoverable._flow.handlers import refuse_generator
from recoverable._limits import ASYNC_GENERATOR, COROUTINE, GENERATOR, code_flags, name_of
from recoverable._observe.log import log_safely
from recoverable._unreadable import unreadable
from recoverable.hosting import record_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.utilities.batch import BatchProcessor

    from recoverable._ladder.faults import Redact
    from recoverable._message import Message

log = logging.getLogger("recoverable")

Answers: TypeAlias = list[tuple[Any, ...]]

NOT_RUN = COROUTINE | GENERATOR | ASYNC_GENERATOR
"""Kinds of functions that a plain call does not run."""


class RecordHandler:
    """A record handler of Powertools, called with the record and with the other arguments of its signature.

    Args:
        function: the user's function.
        model: the parser model of the record; None for `SQSRecord`.
        lambda_context: Lambda's, for a parameter of that name; None where `process_partial_response` was not given it.

    Raises:
        TypeError: the function is not plain.
    """

    def __init__(self, function: Callable[..., Any], model: Any, lambda_context: Any) -> None:
        if code_flags(function) & NOT_RUN:
            raise TypeError(
                f"the record handler {name_of(function)} is a coroutine or generator function, which RecoverableBatchProcessor would "
                "not run; write def and return, or take recoverable.aws.SqsEndpoint, which runs coroutines"
            )
        parameters = signature(function).parameters
        wants_context = "lambda_context" in parameters and lambda_context is not None
        self._function, self._model = function, model
        self._context = {"lambda_context": lambda_context} if wants_context else {}
        self._wants_message = "message" in parameters

    def parse_record(self, message: Message) -> Any:
        """Return the record as `SQSRecord` or as the model.

        Raises:
            BodyNotFetched: its body is in S3, and cannot be fetched.
            MessageDeserializationError: the model cannot read it.
        """
        native = record_of(message)
        if self._model is None:
            return SQSRecord(native)
        try:
            return self._model.model_validate(native)
        except (ValueError, TypeError, KeyError) as error:
            raise unreadable(message.id, error) from error

    def handle(self, record: Any, message: Message) -> Any:
        """Call the function and return its result.

        Raises:
            TypeError: the result must be awaited or is a generator, so nothing has run; the function's own exceptions
                are raised as they are.
        """
        own = {"message": message} if self._wants_message else {}
        result = self._function(record=record, **self._context, **own)
        if hasattr(result, "__await__"):
            getattr(result, "close", bool)()  # else Python warns about a coroutine that was never awaited
            raise TypeError(
                f"the record handler {name_of(self._function)} answered with something to await; write def, or take SqsEndpoint"
            )
        refuse_generator(result)
        return result


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
