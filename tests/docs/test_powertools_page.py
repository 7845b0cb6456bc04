"""Every block of Python on the Powertools page runs, and does what the page says it does."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer

from aws.records import event, record
from builders import Clock
from docs.powertools_reader import BLOCKS, Reader
from powertools.entry_points import Context
from recoverable.hosting import Deadline, Environment, current_environment
from servers.moto import CREDENTIALS, REGION, moto_server

BEFORE, AFTER, SETTINGS, MESSAGE, ONCE, ONCE_AT_ENDPOINT, DECORATORS, CIRCUIT = range(8)


@pytest.fixture(scope="module")
def store() -> Iterator[DynamoDBPersistenceLayer]:
    """The store that the page calls `store`."""
    keys, name = {name.lower(): value for name, value in CREDENTIALS.items()}, f"store-{uuid4().hex}"
    with moto_server() as url:
        client: Any = boto3.client("dynamodb", endpoint_url=url, region_name=REGION, **keys)  # type: ignore[call-overload]  # the two keys
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield DynamoDBPersistenceLayer(table_name=name, boto3_client=client)


@pytest.fixture
def reader() -> Iterator[Reader]:
    """A reader whose function runs in a world without a broker; the loggers are given back as they were."""
    loggers = [logging.getLogger(name) for name in ("recoverable", "shop")]
    before = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    reader = Reader()
    token = current_environment.set(Environment(reader.client.as_client(), Clock(), Deadline))
    yield reader
    current_environment.reset(token)
    for logger, *settings in before:
        logger.handlers, logger.level, logger.propagate = settings  # type: ignore[assignment]


COMES_BACK = {"batchItemFailures": [{"itemIdentifier": "blinks"}]}


def test_the_migration_changes_three_lines() -> None:
    changes = list(difflib.ndiff(BLOCKS[BEFORE].splitlines(), BLOCKS[AFTER].splitlines()))

    changed = {mark: sum(line.startswith(mark) for line in changes) for mark in "+-"}
    assert changed == {"+": 3, "-": 2}


@pytest.mark.parametrize("block", [BEFORE, AFTER])
def test_before_and_after_the_same_record_handler_places_the_same_orders(reader: Reader, block: int) -> None:
    reader.runs(block)

    assert (reader.invokes("good", "blinks"), reader.charged) == (COMES_BACK, ["good", "blinks"])


def test_after_the_immediate_retries_there_is_a_delayed_one_of_ten_seconds(reader: Reader) -> None:
    reader.runs(AFTER)

    assert reader.invokes("blinks", deliveries=6) == {"batchItemFailures": []}
    assert [(copy["delay"], copy["NServiceBus.Retries"]) for copy in reader.copies()] == [(10, "1")]


def test_the_settings_are_taken(reader: Reader) -> None:
    reader.runs(AFTER, SETTINGS)

    assert reader.invokes("declined", "blinks") == COMES_BACK
    (copy,) = reader.copies()
    assert copy["NServiceBus.ExceptionInfo.ExceptionType"].endswith("CardDeclined")


def test_a_record_handler_gets_the_message(reader: Reader, caplog: pytest.LogCaptureFixture) -> None:
    reader.runs(AFTER, MESSAGE)

    with caplog.at_level(logging.INFO, "shop"):
        reader.invokes("good", headers={"NServiceBus.MessageId": "order-1", "NServiceBus.Retries": "1"})

    assert caplog.messages == ["attempt 1 in round 1 of message order-1"]


@pytest.mark.parametrize(
    ("numbers", "message_id"), [((AFTER, ONCE), "order-1"), ((AFTER, ONCE, ONCE_AT_ENDPOINT), "order-2")]
)
def test_a_message_that_comes_under_another_sqs_id_is_charged_once(
    reader: Reader, store: Any, numbers: tuple[int, ...], message_id: str
) -> None:
    reader.names["store"] = store
    reader.runs(*numbers)

    for _ in range(2):
        assert reader.invokes("good", headers={"NServiceBus.MessageId": message_id}) == {"batchItemFailures": []}

    assert reader.charged == ["good"]


def test_the_decorated_endpoint_logs_retries_and_writes_metrics(
    reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.runs(DECORATORS)
    reader.invokes("blinks")

    retry, metrics = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert [retry[name] for name in ("message_id", "attempt", "round", "queue", "function_request_id")] == [
        *("blinks", 1, 0, "orders"),
        "request-1",
    ]
    assert metrics["orders"] == [1.0]


def test_an_open_circuit_has_the_message_come_back_in_half_a_minute(reader: Reader) -> None:
    reader.runs(CIRCUIT)

    assert reader.invokes("open") == {"batchItemFailures": []}
    assert [copy["delay"] for copy in reader.copies()] == [30]


def test_what_message_parse_cannot_read_goes_to_the_error_queue_at_once(reader: Reader) -> None:
    reader.runs(CIRCUIT)
    reader.names["lambda_handler"](event(record("{}")), Context())

    (copy,) = reader.copies()
    assert copy["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.MessageDeserializationError"
