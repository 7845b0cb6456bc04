"""Messages of which no copy can be made or sent: they stay, their neighbours go on, and the log says so."""

from __future__ import annotations

import logging

import pytest

from aws.harness import Context, Mapping, ladder, sqs_endpoint
from aws.records import event, received
from recoverable import Action, ErrorContext, Message, MoveToError, Recoverability, default_policy
from servers.faulty_proxy import FaultyProxy
from servers.fixtures import NewQueue
from servers.moto import session
from servers.queues import Queue, bodies

OWN_QUEUE = "is the queue it came from"
"""What the log says of a message whose error queue is its own queue."""

NO_QUEUE = "arn:aws:sns:eu-west-1:123456789012:topic"


def fail(message: Message) -> None:
    raise ValueError("no")


def to_no_queue(settings: Recoverability, context: ErrorContext) -> Action:
    """Return a policy that moves some messages to what is no queue."""
    return MoveToError(NO_QUEUE) if context.message.text == "bad" else default_policy(settings, context)


def test_an_invalid_error_queue_keeps_its_message_on_the_queue_and_not_the_neighbours(
    orders: Queue, error: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    for body in ("good", "bad", "fine"):
        orders.send(body)
    mapping = Mapping(orders, sqs_endpoint(fail, ladder(error, policy=to_no_queue)))

    reported = mapping.poll()

    assert (reported, bodies(error), mapping.raised) == (["bad"], ["fine", "good"], [])
    assert "no copy for 'arn:aws:sns:eu-west-1:123456789012:topic' can be made (ValueError)" in caplog.text
    assert "It stays on the queue and will be redelivered after its visibility timeout." in caplog.text


def test_an_error_queue_with_the_arn_of_something_else_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=f"'{NO_QUEUE}' is no ARN of an SQS queue; one looks like"):
        sqs_endpoint(fail, ladder(NO_QUEUE))


def test_attributes_that_no_client_wrote_leave_their_message_and_not_the_neighbours(
    orders: Queue, error: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="recoverable")
    orders.send("good")
    orders.send("secret of the bad one")
    records = [received(message, orders.arn) for message in orders.receive()]
    records[1]["messageAttributes"] = {"x": {"dataType": "Binary", "binaryValue": "a"}}

    answer = sqs_endpoint(fail, ladder(error))(event(*records), Context())

    assert answer == {"batchItemFailures": [{"itemIdentifier": records[1]["messageId"]}]}
    assert bodies(error) == ["good"]
    assert "secret" not in caplog.text


def test_an_attribute_that_the_broker_refuses_leaves_its_message_and_not_the_neighbours(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    orders.send("good")
    orders.send("bad")
    records = [received(message, orders.arn) for message in orders.receive()]
    records[1]["messageAttributes"] = {"x": {"dataType": "NoSuchType", "stringValue": "1"}}

    answer = sqs_endpoint(fail, ladder(error))(event(*records), Context())

    assert answer == {"batchItemFailures": [{"itemIdentifier": records[1]["messageId"]}]}
    assert bodies(error) == ["good"]
    assert proxy.calls == {"SendMessageBatch": 4, "DeleteMessageBatch": 1}


@pytest.mark.parametrize("name_of", ["name", "arn", "url"])
def test_an_error_queue_that_is_the_queue_itself_redelivers_until_the_redrive_policy_takes_the_message(
    new_queue: NewQueue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture, name_of: str
) -> None:
    redrive = f'{{"deadLetterTargetArn": "{error.arn}", "maxReceiveCount": "2"}}'
    orders = new_queue("orders", RedrivePolicy=redrive)
    runs: list[int] = []
    orders.send()

    def fail_counted(message: Message) -> None:
        runs.append(message.attempt)
        raise ValueError("no")

    endpoint = sqs_endpoint(fail_counted, ladder(getattr(orders, name_of)))
    mapping = Mapping(orders, endpoint)
    while mapping.poll():
        mapping.expire()

    assert (runs, bodies(error)) == ([1, 2], ["hello"])
    assert not proxy.calls  # neither sent nor shown again: it waits out its visibility timeout
    assert f"its error queue '{orders.name}' {OWN_QUEUE}" in caplog.text


def test_a_queue_of_the_same_name_in_another_region_is_another_queue(
    orders: Queue, sqs: str, caplog: pytest.LogCaptureFixture
) -> None:
    far = session().client("sqs", region_name="us-east-1", endpoint_url=sqs)
    url = far.create_queue(QueueName=orders.name)["QueueUrl"]
    orders.send()

    Mapping(orders, sqs_endpoint(fail, ladder(orders.arn.replace("eu-west-1", "us-east-1")))).run_dry()

    assert [message["Body"] for message in far.receive_message(QueueUrl=url)["Messages"]] == ["hello"]
    assert OWN_QUEUE not in caplog.text
