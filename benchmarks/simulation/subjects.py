"""What is compared: our endpoint, and what people have otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from simulation.meter import Handler
from simulation.nservicebus import nservicebus
from simulation.work import Work

QUEUE, ERROR_QUEUE = "orders", "orders-error"


def recoverable(work: Work, _client: Any) -> Handler:
    """Return our endpoint with its defaults: six attempts, and six more after 10, 20 and 30 seconds each."""
    return endpoint(work, Recoverability(failed=Failed(error_queue=ERROR_QUEUE)))


def five_attempts(work: Work, _client: Any) -> Handler:
    """Return our endpoint with as many attempts as a redrive policy of five receives gives."""
    return endpoint(work, Recoverability(Immediate(0), Delayed(4), Failed(error_queue=ERROR_QUEUE)))


def endpoint(work: Work, recoverability: Recoverability) -> SqsEndpoint:
    """Return our endpoint."""

    def place_order(message: Message) -> None:
        work.do(message.text)

    return SqsEndpoint(place_order, recoverability)


def redrive(work: Work, _client: Any) -> Handler:
    """Return a handler that is a loop; an exception fails the batch, and the rest is the queue's redrive policy."""

    def handler(event: dict[str, Any], _context: Any) -> None:
        for record in event["Records"]:
            work.do(record["body"])

    return handler


def powertools(work: Work, _client: Any) -> Handler:
    """Return Powertools' batch processor, as its documentation has it; the rest is the queue's redrive policy."""
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

    def place_order(record: SQSRecord) -> None:
        work.do(record.body)

    def handler(event: dict[str, Any], context: Any) -> Any:
        processor = BatchProcessor(event_type=EventType.SQS)  # each invocation its own: all share this process
        return process_partial_response(event, place_order, processor, context)

    return handler


class Subject(NamedTuple):
    """One of those that are compared.

    Args:
        name: what the tables call it.
        handler: makes its handler, given the work and a client.
        max_receive_count: of the queue's redrive policy.
        partial_responses: whether its event source mapping has ReportBatchItemFailures.
        coroutines: whether it lets the time of its calls pass itself.
    """

    name: str
    handler: Callable[[Work, Any], Handler]
    max_receive_count: int
    partial_responses: bool
    coroutines: bool = False


SUBJECTS = {
    subject.name: subject
    for subject in (
        Subject("recoverable", recoverable, 50, partial_responses=True),
        Subject("recoverable, 5 attempts", five_attempts, 50, partial_responses=True),
        Subject("redrive policy", redrive, 5, partial_responses=False),
        Subject("Powertools", powertools, 5, partial_responses=True),
        Subject("NServiceBus", nservicebus, 50, partial_responses=False, coroutines=True),
    )
}
