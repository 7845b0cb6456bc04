"""Check the user's record handler, and call it with the arguments that it takes."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from recoverable._flow.signatures import refuse_generator
from recoverable._limits import ASYNC_GENERATOR, COROUTINE, GENERATOR, code_flags, name_of
from recoverable._unreadable import unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from recoverable._message import Message

NOT_RUN = COROUTINE | GENERATOR | ASYNC_GENERATOR
"""Kinds of functions that a plain call does not run."""


class RecordHandler:
    """A record handler of Powertools, called with the record and with the other arguments of its signature.

    Args:
        function: the user's function.
        model: the parser model of the record; None for `SQSRecord`.
        lambda_context: Lambda's, for a parameter of that name; None where `process_partial_response` was not given it.
        fetches_bodies: True if a pointer into S3 is replaced by the body.

    Raises:
        TypeError: the function is not plain.
    """

    def __init__(
        self, function: Callable[..., Any], model: Any, lambda_context: Any, *, fetches_bodies: bool = False
    ) -> None:
        if code_flags(function) & NOT_RUN:
            raise TypeError(
                f"the record handler {name_of(function)} is a coroutine or generator function, which RecoverableBatchProcessor would "
                "not run; write def and return, or take recoverable.aws.SqsEndpoint, which runs coroutines"
            )
        parameters = signature(function).parameters
        wants_context = "lambda_context" in parameters and lambda_context is not None
        self._function, self._model, self._fetches_bodies = function, model, fetches_bodies
        self._context = {"lambda_context": lambda_context} if wants_context else {}
        self._wants_message = "message" in parameters

    def parse_record(self, message: Message) -> Any:
        """Return the record as `SQSRecord` or as the model.

        Raises:
            BodyNotFetched: its body is in S3, and cannot be fetched.
            MessageDeserializationError: the model cannot read it.
        """
        native = message.native
        if self._fetches_bodies:
            from recoverable.aws._large_bodies import record_with_body  # for those who have such

            native = record_with_body(message)
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
