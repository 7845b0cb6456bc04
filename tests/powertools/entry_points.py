"""One handler behind both entry points: `SqsEndpoint`, and Powertools' `process_partial_response` with the processor."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import BasePartialBatchProcessor, process_partial_response

from aws import harness
from aws.harness import AMPLE_TIME, Endpoint, sqs_endpoint
from recoverable import Message, Recoverability
from recoverable.powertools import RecoverableBatchProcessor

ENDPOINT, PROCESSOR = ENTRY_POINTS = ("endpoint", "processor")


class Context(harness.Context):
    """Lambda's context with the fields that Powertools' Logger writes."""

    function_name = "place-orders"
    memory_limit_in_mb = 256
    invoked_function_arn = "arn:aws:lambda:eu-west-1:123456789012:function:place-orders"
    aws_request_id = "request-1"


class Shop:
    """A handler that does as the body says, and remembers what it was given."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, int, int]] = []

    def by_message(self, message: Message) -> None:
        self.runs.append((message.text, message.round, message.attempt))
        match message.text:
            case "fails":
                raise ValueError("no")
            case "exits":
                raise SystemExit(3)
            case "hangs":
                time.sleep(60)
            case _:
                pass

    def by_record(self, record: Any, message: Message) -> None:
        assert record.body == message.text
        self.by_message(message)


def powertools_function(record_handler: Callable[..., Any], processor: BasePartialBatchProcessor) -> Endpoint:
    """Return a Lambda handler as Powertools' documentation has it."""

    def handler(event: dict[str, Any], context: Any) -> Any:
        return process_partial_response(
            event=event, record_handler=record_handler, processor=processor, context=context
        )

    return handler


def function(entry_point: str, shop: Shop, recoverability: Recoverability, **settings: Any) -> Endpoint:
    """Return a Lambda handler: our endpoint, or Powertools' processor."""
    if entry_point == ENDPOINT:
        return sqs_endpoint(shop.by_message, recoverability, **settings)
    return powertools_function(shop.by_record, RecoverableBatchProcessor(recoverability, **{**AMPLE_TIME, **settings}))
