"""A Lambda handler with Powertools' Tracer around and inside, run in a process of its own: X-Ray keeps its state for good."""

from __future__ import annotations

import json
import sys
from typing import Any

from aws_lambda_powertools import Tracer
from aws_lambda_powertools.utilities.batch import process_partial_response

from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.powertools import RecoverableBatchProcessor

tracer = Tracer(service="shop")


@tracer.capture_method
def place_order(message: Message) -> None:
    """Place an order, as the shop's own code."""
    tracer.put_annotation("order", message.text)


endpoint = tracer.capture_lambda_handler(SqsEndpoint(place_order))
processor = RecoverableBatchProcessor()


@tracer.capture_method
def place_record(record: Any, message: Message) -> None:
    """Place an order, as a record handler."""
    place_order(message)


@tracer.capture_lambda_handler
def powertools_handler(event: dict[str, Any], context: Any) -> Any:
    """Return a Lambda handler as Powertools' documentation has it."""
    return process_partial_response(event, place_record, processor, context)


if __name__ == "__main__":
    handler: Any = {"endpoint": endpoint, "processor": powertools_handler}[sys.argv[1]]
    json.dump(handler(json.load(sys.stdin), None), sys.stdout)
