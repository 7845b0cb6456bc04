"""Topics, FIFO queues, and what SQS and SNS do not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

import boto3
import pytest

from aws.harness import Context, Mapping, ladder, sqs_endpoint
from aws.records import event, received, record
from builders import seconds
from recoverable import Message
from recoverable._sqs.clients import client as process_client
from recoverable.hosting import Deadline, Environment, current_environment, utc_clock
from servers.faulty_proxy import FaultyProxy
from servers.fixtures import NewQueue
from servers.moto import REGION
from servers.queues import Queue


def handled(handler: Any, **settings: Any) -> list[Exception]:
    """Run a handler on one record that needs no broker; return what it raised when it sent."""
    raised: list[Exception] = []

    def note(message: Message) -> None:
        try:
            handler(message)
        except ValueError as error:
            raised.append(error)

    sqs_endpoint(note, ladder("error"), **settings)(event(record()), Context())
    return raised


def test_a_topic_passes_on_what_is_published(
    moto: str, orders: Queue, error: Queue, new_queue: NewQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", moto)
    sns, subscriber, name = (
        boto3.client("sns", region_name=REGION),
        new_queue("subscriber"),
        f"events-{uuid4().hex[:8]}",
    )
    topic = sns.create_topic(Name=name)["TopicArn"]
    raw = {"RawMessageDelivery": "true"}
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=subscriber.arn, Attributes=raw)
    orders.send("order 1")

    def publish(message: Message) -> None:
        message.publish(name, {"placed": 1}, attributes={"kind": "placed"})

    Mapping(orders, sqs_endpoint(publish, ladder(error))).run_dry()

    (seen,) = subscriber.arrived()
    assert (json.loads(seen.body), seen.attributes["kind"]["StringValue"]) == ({"placed": 1}, "placed")
    assert seen.headers["NServiceBus.MessageIntent"] == "Publish"


def test_a_topic_that_does_not_exist_is_a_failed_attempt(
    moto: str, orders: Queue, error: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", moto)
    orders.send("order 1")

    Mapping(orders, sqs_endpoint(lambda message: message.publish("no-such-topic", "hello"), ladder(error))).run_dry()

    (failed,) = error.arrived()
    assert "the topic 'no-such-topic' refused" in failed.headers["NServiceBus.ExceptionInfo.Message"]
    assert "sns:Publish" in failed.headers["NServiceBus.ExceptionInfo.Message"]


def test_a_group_goes_to_a_fifo_queue_in_its_order_one_message_a_call(
    orders: Queue, error: Queue, new_queue: NewQueue, proxy: FaultyProxy
) -> None:
    invoices = new_queue("invoices.fifo")
    orders.send("order 1")

    def bill(message: Message) -> None:
        for number in range(3):
            message.send(invoices.name, str(number), group_id="a")
        message.send(invoices.name, "other", group_id="b")

    Mapping(orders, sqs_endpoint(bill, ladder(error))).run_dry()

    arrived = invoices.arrived()
    assert [each.body for each in arrived if each.group == "a"] == ["0", "1", "2"]
    assert (len(arrived), proxy.calls["SendMessageBatch"]) == (4, 3)


def test_a_fifo_queue_drops_what_is_sent_again(orders: Queue, error: Queue, new_queue: NewQueue) -> None:
    invoices = new_queue("invoices.fifo")
    orders.send("order 1")

    def bill(message: Message) -> None:
        message.send(invoices.name, "invoice", group_id="a")

    messages = orders.receive(visibility=0)

    for _ in range(2):
        sqs_endpoint(bill, ladder(error))(event(*(received(each, orders.arn) for each in messages)), Context())
    assert [each.body for each in invoices.arrived()] == ["invoice"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "bytes that are no UTF-8": ({"body": b"\xff"}, "no UTF-8"),
    "a character that SQS cannot carry": ({"body": "\x00"}, "character that SQS cannot carry"),
    "too many attributes": ({"attributes": {f"a{n}": "x" for n in range(10)}}, "write at most 9"),
    "a reserved attribute": ({"attributes": {"AWS.x": "x"}}, "no name that SQS takes"),
    "an attribute without text": ({"attributes": {"a": ""}}, "empty"),
    "a number that is none": ({"attributes": {"a": float("nan")}}, "nan, which is no number"),
    "an infinite number": ({"attributes": {"a": Decimal("-Infinity")}}, "-Infinity, which is no number"),
    "a queue of no region": ({"queue": "arn:aws:sqs::123456789012:invoices"}, "is no ARN of an SQS queue"),
    "more than SQS takes": ({"body": "x" * 1_048_576}, "takes 1,048,576"),
    "a delay of an hour": ({"delay": seconds(3600)}, "15 minutes at most"),
    "a delay to a FIFO queue": ({"queue": "invoices.fifo", "group_id": "a", "delay": seconds(1)}, "FIFO"),
    "a FIFO queue without a group": ({"queue": "invoices.fifo"}, "write one"),
}


@pytest.mark.parametrize(("parts", "text"), REFUSED.values(), ids=REFUSED)
def test_what_sqs_does_not_take_is_refused_in_the_handler(sqs: str, parts: dict[str, Any], text: str) -> None:
    def send(message: Message) -> None:
        message.send(**{"queue": "invoices", "body": "hello", **parts})

    [error] = handled(send)

    assert isinstance(error, ValueError)
    assert text in str(error)


@pytest.mark.parametrize(
    ("parts", "text"), [({"delay": seconds(1)}, "SNS delays nothing"), ({"body": "x" * 1_048_576}, "takes 1,048,576")]
)
def test_what_sns_does_not_take_is_refused_in_the_handler(sqs: str, parts: dict[str, Any], text: str) -> None:
    def publish(message: Message) -> None:
        message.publish(**{"topic": "events", "body": "hello", **parts})

    [error] = handled(publish)

    assert isinstance(error, ValueError)
    assert text in str(error)


def test_the_client_is_made_at_the_start_where_it_is_asked_for(sqs: str) -> None:

    sqs_endpoint(lambda message: None, ladder("error"), warm=True)

    assert process_client.cache_info().misses == 1


def test_the_client_is_asked_for_in_the_time_of_the_first_send_alone(
    orders: Queue, error: Queue, new_queue: NewQueue
) -> None:
    waited: list[str] = []

    def call_within(_seconds: float, call: Callable[[], Any]) -> Any:
        waited.append("waited")
        return call()

    def bill(message: Message) -> None:
        for number in range(10):
            message.send(invoices.name, str(number))
        assert waited == ["waited"]

    invoices = new_queue("invoices")
    orders.send("order 1")
    token = current_environment.set(Environment(None, utc_clock(None), Deadline, call_within=call_within))
    Mapping(orders, sqs_endpoint(bill, ladder(error))).run_dry()
    current_environment.reset(token)

    assert (error.count(), len(invoices.arrived())) == (0, 10)


def test_a_refusal_holds_the_rest_of_its_group(new_queue: NewQueue) -> None:
    orders, error = new_queue("orders.fifo", ContentBasedDeduplication="true"), new_queue("error.fifo")
    ran: list[str] = []

    def bill(message: Message) -> None:
        ran.append(message.text)
        if message.text == "1":
            message.send("no-such-queue", "invoice")

    for body in ("1", "2"):
        orders.send(body, MessageGroupId="a")
    mapping = Mapping(orders, sqs_endpoint(bill, ladder(error, immediate=1)))
    mapping.poll()

    assert ran == ["1"]
