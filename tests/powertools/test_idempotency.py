"""Powertools' idempotency keyed by `message.id`: one charge, whatever the retries and redrives, behind both entry points."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig, idempotent_function

from aws.harness import AMPLE, AMPLE_TIME, Context, Endpoint, Mapping, NearTheEnd, ladder, sqs_endpoint
from powertools.entry_points import ENDPOINT, ENTRY_POINTS, PROCESSOR, powertools_function
from recoverable import Message, Recoverability
from recoverable.powertools import RecoverableBatchProcessor
from servers.moto import CREDENTIALS, REGION
from servers.queues import Queue

INVOCATION = 2.0
"""How many seconds an invocation lasts, as Powertools is configured: for as long it leaves a message alone whose invocation has not ended."""


@pytest.fixture
def store(sqs: str) -> Iterator[DynamoDBPersistenceLayer]:
    """Yield Powertools' store, in a table of a local DynamoDB."""
    keys = {name.lower(): value for name, value in CREDENTIALS.items()}
    client = boto3.client("dynamodb", endpoint_url=sqs, region_name=REGION, **keys)  # type: ignore[call-overload]  # the two keys
    name = f"idempotency-{uuid4().hex[:12]}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield DynamoDBPersistenceLayer(table_name=name, boto3_client=client)
    client.delete_table(TableName=name)


class Bank:
    """Charges once for each message, then fails as often as set; it remembers the message ids of SQS."""

    def __init__(self, store: DynamoDBPersistenceLayer, *, failures: int = 0) -> None:
        self.charged: list[str] = []
        self.ids: list[str] = []
        self._failures, self._config = failures, IdempotencyConfig()
        self.charge = idempotent_function(
            self._charge, data_keyword_argument="message_id", persistence_store=store, config=self._config
        )

    def _charge(self, body: str, *, message_id: str) -> str:
        self.charged.append(body)
        return f"receipt for {body}"

    def by_message(self, message: Message) -> None:
        self.ids.append(message.native["messageId"])
        assert self.charge(message.text, message_id=self.key(message)) == f"receipt for {message.text}"
        if len(self.ids) <= self._failures:
            raise ConnectionError("the receipt could not be mailed")

    def by_record(self, record: SQSRecord, message: Message) -> None:
        self.by_message(message)

    def key(self, message: Message) -> str:
        """Return the key that it is idempotent by."""
        return message.id

    def function(self, entry_point: str, recoverability: Recoverability) -> Endpoint:
        """Return the Lambda handler, from which Powertools learns how long invocations last."""
        processor = RecoverableBatchProcessor(recoverability, **AMPLE_TIME)
        entry_points: dict[str, Endpoint] = {
            ENDPOINT: sqs_endpoint(self.by_message, recoverability),
            PROCESSOR: powertools_function(self.by_record, processor),
        }

        def handler(event: dict[str, Any], context: Any) -> Any:
            self._config.register_lambda_context(Context(INVOCATION))  # type: ignore[arg-type]  # what of it is asked
            return entry_points[entry_point](event, context)

        return handler


def redrive(error: Queue, orders: Queue) -> None:
    """Send what lies in the error queue back, as an operator does."""
    for message in error.receive():
        orders.send(message["Body"], attributes=message["MessageAttributes"])
        error.client.delete_message(QueueUrl=error.url, ReceiptHandle=message["ReceiptHandle"])


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_a_message_is_charged_once_over_all_its_attempts_and_a_redrive(
    orders: Queue, error: Queue, store: DynamoDBPersistenceLayer, entry_point: str
) -> None:
    bank = Bank(store, failures=4)
    mapping = Mapping(orders, bank.function(entry_point, ladder(error, immediate=1, delayed=1)))
    orders.send("order 1")

    mapping.run_dry()
    redrive(error, orders)
    mapping.run_dry()

    assert (len(bank.ids), len(set(bank.ids))) == (5, 3)  # five attempts under three names of SQS's
    assert (bank.charged, error.count()) == (["order 1"], 0)


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_each_message_is_charged_even_if_its_body_is_another_one_s(
    orders: Queue, error: Queue, store: DynamoDBPersistenceLayer, entry_point: str
) -> None:
    bank = Bank(store)
    orders.send("order 1")
    orders.send("order 1")

    Mapping(orders, bank.function(entry_point, ladder(error))).run_dry()

    assert bank.charged == ["order 1", "order 1"]


def test_sqs_s_own_message_id_is_another_one_after_a_delayed_retry(
    orders: Queue, error: Queue, store: DynamoDBPersistenceLayer
) -> None:
    class KeyedBySqs(Bank):
        def key(self, message: Message) -> str:
            return str(message.native["messageId"])

    bank = KeyedBySqs(store, failures=1)
    orders.send("order 1")
    Mapping(orders, bank.function(ENDPOINT, ladder(error, delayed=1))).run_dry()

    assert bank.charged == ["order 1", "order 1"]


class Slow(Bank):
    """A bank whose first charge takes longer than its handler may."""

    def _charge(self, body: str, *, message_id: str) -> str:
        if not self.charged:
            self.charged.append("begun")
            time.sleep(60)
        return super()._charge(body, message_id=message_id)


@pytest.mark.slow
@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_a_charge_that_was_stopped_is_made_again_once_its_invocation_is_over(
    orders: Queue, error: Queue, store: DynamoDBPersistenceLayer, entry_point: str
) -> None:
    bank = Slow(store)
    handler = bank.function(entry_point, ladder(error, immediate=1, delayed=3, delay=INVOCATION))
    orders.send("order 1")

    def context() -> Context:
        return Context() if bank.charged else NearTheEnd(left=AMPLE + 1)

    Mapping(orders, handler, contexts=context).run_dry()

    assert (bank.charged, error.count()) == (["begun", "order 1"], 0)


def test_a_record_handler_that_asks_for_the_message_gets_the_message_s_own_id(orders: Queue, error: Queue) -> None:
    ids: list[tuple[str, str]] = []

    def place(record: SQSRecord, message: Message) -> None:
        ids.append((message.id, record.message_id))

    name = {"StringValue": "order-1", "DataType": "String"}
    sqs_id = orders.send(attributes={"NServiceBus.MessageId": name})
    Mapping(orders, powertools_function(place, RecoverableBatchProcessor(ladder(error)))).run_dry()

    assert ids == [("order-1", sqs_id)]
