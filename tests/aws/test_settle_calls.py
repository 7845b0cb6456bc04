"""How many calls to SQS a batch costs, and that a batch which succeeds costs none."""

from __future__ import annotations

import json
import subprocess
import sys
from math import ceil
from typing import Any

import boto3
import pytest

from aws.harness import AMPLE, Context, Mapping, ladder, lose_deliveries, sqs_endpoint
from aws.records import event, received, record
from recoverable import Message
from recoverable._sqs.clients import client as process_client
from servers.faulty_proxy import FaultyProxy
from servers.moto import REGION
from servers.queues import Queue
from sources import DEAR


def fail(message: Message) -> None:
    raise ValueError("no")


def succeed(message: Message) -> None:
    pass


def batch_of(queue: Queue, size: int) -> dict[str, Any]:
    """Return an event of more records than one receive gives, as a mapping with a batching window sends."""
    for number in range(size):
        queue.send(str(number))
    messages = [message for _ in range(ceil(size / 10)) for message in queue.receive()]
    return event(*(received(message, queue.arn) for message in messages))


@pytest.mark.parametrize(("failed", "calls"), [(1, 1), (10, 1), (11, 2), (25, 3)])
def test_moving_failed_messages_costs_one_send_and_one_delete_for_ten(
    orders: Queue, error: Queue, proxy: FaultyProxy, failed: int, calls: int
) -> None:
    answer = sqs_endpoint(fail, ladder(error))(batch_of(orders, failed), Context())

    assert answer == {"batchItemFailures": []}
    assert proxy.calls == {"SendMessageBatch": calls, "DeleteMessageBatch": calls}
    assert proxy.entries == {"SendMessageBatch": failed, "DeleteMessageBatch": failed}


@pytest.mark.parametrize(("failed", "calls"), [(1, 1), (10, 1), (11, 2)])
def test_retrying_immediately_costs_one_call_for_ten(
    orders: Queue, error: Queue, proxy: FaultyProxy, failed: int, calls: int
) -> None:
    batch = batch_of(orders, failed)

    answer = sqs_endpoint(fail, ladder(error, immediate=1))(batch, Context())

    ids = [{"itemIdentifier": record["messageId"]} for record in batch["Records"]]
    assert (answer, proxy.calls) == ({"batchItemFailures": ids}, {"ChangeMessageVisibilityBatch": calls})


def test_a_batch_that_succeeds_costs_no_call(orders: Queue, error: Queue, proxy: FaultyProxy) -> None:
    answer = sqs_endpoint(succeed, ladder(error))(batch_of(orders, 25), Context())

    assert (answer, dict(proxy.calls)) == ({"batchItemFailures": []}, {})


def test_a_single_message_that_was_delivered_before_and_succeeds_costs_a_look_at_its_queue(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    orders.send()
    lose_deliveries(orders, 2)

    Mapping(orders, sqs_endpoint(succeed, ladder(error, immediate=5))).run_dry()

    assert ({**proxy.calls}, proxy.looks) == ({}, 1)


def test_a_process_looks_at_its_queue_once_whatever_fails(orders: Queue, error: Queue, proxy: FaultyProxy) -> None:
    orders.send()

    Mapping(orders, sqs_endpoint(fail, ladder(error, immediate=2, delayed=1))).run_dry()

    assert proxy.looks == 1


def test_the_messages_that_succeed_beside_fresh_failures_cost_no_call_of_their_own(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    def fail_odd(message: Message) -> None:
        if int(message.text) % 2:
            raise ValueError("no")

    sqs_endpoint(fail_odd, ladder(error))(batch_of(orders, 10), Context())

    assert proxy.entries == {"SendMessageBatch": 5, "DeleteMessageBatch": 5}


def test_one_client_serves_all_invocations_of_a_process(orders: Queue, error: Queue) -> None:
    endpoint = sqs_endpoint(fail, ladder(error))
    for _ in range(3):
        orders.send()
        Mapping(orders, endpoint).run_dry()

    assert (process_client.cache_info().misses, error.count()) == (1, 3)


SUCCESS = """
import json, sys
import awslambdaric.bootstrap
before = set(sys.modules)
from recoverable.aws import SqsEndpoint

answer = SqsEndpoint(lambda message: message.text)(json.load(sys.stdin), None)
assert answer == {"batchItemFailures": []}, answer
print(json.dumps(list(sys.modules.keys() - before)))
"""


def test_neither_an_sdk_nor_what_is_dear_is_imported_before_something_fails() -> None:
    batch = json.dumps(event(record(), record(message_id="native-2", headers={"NServiceBus.Retries": "1"})))

    done = subprocess.run(
        [sys.executable, "-c", SUCCESS], input=batch, capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert {"boto3", "botocore", *DEAR} & set(json.loads(done.stdout)) == set()


def test_the_default_session_that_a_handler_sets_up_does_not_change_the_client(orders: Queue, error: Queue) -> None:
    def fail_elsewhere(message: Message) -> None:
        boto3.setup_default_session(region_name="us-west-2", aws_access_key_id="another", aws_secret_access_key="one")
        raise ValueError("no")

    orders.send()
    try:
        Mapping(orders, sqs_endpoint(fail_elsewhere, ladder(error))).run_dry()
        credentials: Any = process_client("sqs", REGION, AMPLE / 2)._get_credentials()
    finally:
        boto3.DEFAULT_SESSION = None

    assert (credentials.access_key, error.count()) == ("testing", 1)
