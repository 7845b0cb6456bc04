"""What record handlers send through their parameter `message`: it leaves when the attempt has succeeded, as behind the endpoint."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import ExceptionInfo, FailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel

from aws.harness import AMPLE_TIME, Mapping, ladder
from builders import Boom
from powertools.entry_points import powertools_function
from recoverable import Message, OutgoingRefused
from recoverable.powertools import RecoverableBatchProcessor
from servers.fixtures import NewQueue
from servers.queues import Queue, bodies


@pytest.fixture
def invoices(new_queue: NewQueue) -> Queue:
    """Return a queue that handlers send to."""
    return new_queue("invoices")


def test_a_record_handler_sends_once_whatever_failed_before(orders: Queue, error: Queue, invoices: Queue) -> None:
    attempts: list[int] = []

    def bill(record: SQSRecord, message: Message) -> None:
        message.send(invoices.name, {"order": record.body})
        attempts.append(message.attempt)
        if len(attempts) < 4:  # the fourth attempt succeeds
            raise Boom

    orders.send("order 1")
    processor = RecoverableBatchProcessor(ladder(error, immediate=1, delayed=1), **AMPLE_TIME)
    Mapping(orders, powertools_function(bill, processor)).run_dry()

    assert (attempts, bodies(invoices), error.count()) == ([1, 2, 1, 2], ['{"order": "order 1"}'], 0)


def test_a_record_handler_whose_attempts_all_fail_sends_nothing(orders: Queue, error: Queue, invoices: Queue) -> None:
    def bill(record: SQSRecord, message: Message) -> None:
        message.send(invoices.name, record.body)
        raise Boom

    orders.send("order 1")
    processor = RecoverableBatchProcessor(ladder(error, immediate=1, delayed=1), **AMPLE_TIME)
    Mapping(orders, powertools_function(bill, processor)).run_dry()

    assert (bodies(invoices), bodies(error)) == ([], ["order 1"])


class RecordingProcessor(RecoverableBatchProcessor):
    """A user's processor that notes what its failure hook was given."""

    def __init__(self, *settings: Any, **more: Any) -> None:
        super().__init__(*settings, **more)
        self.failed: list[tuple[str, type[BaseException] | None]] = []

    def failure_handler(self, record: Any, exception: ExceptionInfo) -> FailureResponse:
        self.failed.append((record.body, exception[0]))
        return super().failure_handler(record, exception)


@pytest.mark.parametrize("model", [None, SqsRecordModel], ids=["a record", "a model"])
def test_the_failure_hook_gets_the_record_whose_outgoing_message_was_refused(
    orders: Queue, error: Queue, invoices: Queue, model: Any
) -> None:
    def bill(record: Any, message: Message) -> None:
        message.send(invoices.name if record.body == "good" else "no-such-queue", record.body)

    for body in ("bad", "good"):
        orders.send(body)
    processor = RecordingProcessor(ladder(error), model=model, **AMPLE_TIME)
    Mapping(orders, powertools_function(bill, processor)).run_dry()

    assert (processor.failed, bodies(invoices), bodies(error)) == ([("bad", OutgoingRefused)], ["good"], ["bad"])
