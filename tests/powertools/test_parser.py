"""Parser models as the processor's `model`: the handler gets the model, and what it cannot read is not tried again."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import ExceptionInfo, FailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.parser import BaseModel
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from aws_lambda_powertools.utilities.parser.types import Json
from pydantic import ValidationError

from aws.harness import Mapping, ladder
from powertools.entry_points import Context, powertools_function
from recoverable import Message, MessageDeserializationError
from recoverable.extensions import S3Bodies
from recoverable.powertools import RecoverableBatchProcessor
from servers.buckets import Bucket, marked, pointer
from servers.queues import Queue


class Order(BaseModel):
    """The content of a body."""

    id: str


class OrderRecord(SqsRecordModel):
    """A record whose body is an order."""

    body: Json[Order]


class Shop(RecoverableBatchProcessor):
    """A processor that keeps what its failure hook gets."""

    def __init__(self, error: Queue, **settings: int) -> None:
        super().__init__(ladder(error, **settings), model=OrderRecord)
        self.failures: list[tuple[Any, ExceptionInfo]] = []

    def failure_handler(self, record: Any, exception: ExceptionInfo) -> FailureResponse:
        self.failures.append((record, exception))
        return super().failure_handler(record, exception)


def test_the_handler_gets_the_model(orders: Queue, error: Queue) -> None:
    placed: list[tuple[str, int]] = []

    def place(record: OrderRecord, message: Message) -> None:
        placed.append((record.body.id, message.attempt))
        if message.attempt == 1:
            raise ConnectionError("the bank blinked")

    orders.send('{"id": "1001"}')
    Mapping(orders, powertools_function(place, Shop(error, immediate=1)), contexts=Context).run_dry()

    assert placed == [("1001", 1), ("1001", 2)]


def test_what_the_model_cannot_read_moves_to_the_error_queue_at_once(orders: Queue, error: Queue) -> None:
    processor = Shop(error, immediate=5, delayed=3)
    orders.send("{}")
    Mapping(orders, powertools_function(lambda record: None, processor), contexts=Context).run_dry()

    ((record, (kind, failure, _)),) = processor.failures
    (copy,) = error.arrived()
    info = "NServiceBus.ExceptionInfo"
    assert (type(record), kind) == (SQSRecord, MessageDeserializationError)
    assert isinstance(failure, MessageDeserializationError)
    assert isinstance(failure.__cause__, ValidationError)
    assert copy.headers[f"{info}.ExceptionType"] == "recoverable.MessageDeserializationError"
    assert "ValidationError" in copy.headers[f"{info}.InnerExceptionType"]


class LargeRecord(SqsRecordModel):
    """A record whose body came from S3."""

    body: Json[Any]


@pytest.mark.parametrize("model", [None, LargeRecord], ids=["SQSRecord", "model"])
def test_a_record_has_the_body_that_its_sender_put_into_s3(
    orders: Queue, error: Queue, bucket: Bucket, model: Any
) -> None:
    placed: list[Any] = []

    def place(record: Any, message: Message) -> None:
        placed.append((record.body if model else record.json_body, message.json()))

    processor = RecoverableBatchProcessor(ladder(error), model=model, extensions=(S3Bodies((bucket.name,)),))
    bucket.put("bodies/7")
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    orders.send('{"order": 43}')
    Mapping(orders, powertools_function(place, processor), contexts=Context).run_dry()

    assert placed == [({"order": number}, {"order": number}) for number in (42, 43)]


def test_a_record_whose_body_cannot_be_fetched_is_a_failure_with_its_retries(
    orders: Queue, error: Queue, bucket: Bucket
) -> None:
    processor = RecoverableBatchProcessor(ladder(error, immediate=1), extensions=(S3Bodies((bucket.name,)),))
    orders.send(pointer(bucket.name, "gone"), attributes=marked())

    Mapping(orders, powertools_function(lambda record: None, processor), contexts=Context).run_dry()
    (copy,) = error.arrived()

    found = {name: copy.headers[name] for name in ("NServiceBus.ExceptionInfo.ExceptionType", "Recoverable.Attempts")}
    assert list(found.values()) == ["recoverable.extensions.BodyNotFetched", "2"]
