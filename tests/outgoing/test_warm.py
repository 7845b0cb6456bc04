"""A warm endpoint has read and made all that sending takes before the first message: the first `send` of a process reads nothing of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys

from recoverable import Message, Recoverability

def bill(message: Message) -> None:
    before = set(sys.modules)
    message.send("invoices", {"order": 1})
    read = sorted(name for name in set(sys.modules) - before if name.startswith("recoverable"))
    print(json.dumps([read, sdk in before, sends in before]), file=sys.stderr)
    raise SystemExit  # before anything is sent

"""
ON_SQS = """
from recoverable.aws import SqsEndpoint

sdk, sends = "botocore.client", "recoverable.aws._send"
record = {
    "messageId": "1", "receiptHandle": "handle", "body": "{}", "attributes": {"ApproximateReceiveCount": "1"},
    "messageAttributes": {}, "eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:orders",
}
SqsEndpoint(bill, warm=WARM)({"Records": [record]})
"""
ON_SERVICE_BUS = """
import os

from recoverable.azure import ServiceBusEndpoint

class Native:
    application_properties, user_properties, session_id, message_id, delivery_count = {}, {}, None, "m", 1
    enqueued_time_utc = metadata = sequence_number = None
    def get_body(self):
        return b"{}"

sdk, sends = "azure.servicebus", "recoverable.azure._outgoing"
os.environ["ServiceBus"] = "Endpoint=sb://127.0.0.1;SharedAccessKeyName=a;SharedAccessKey=YQ==;UseDevelopmentEmulator=true;"
ServiceBusEndpoint(bill, queue="orders", connection="ServiceBus", warm=WARM)(Native())
"""
CLOUDS = {"SQS": ON_SQS, "Service Bus": ON_SERVICE_BUS}
SENDS = {"SQS": "recoverable.aws._send", "Service Bus": "recoverable.azure._outgoing"}


def first_send(cloud: str, *, warm: bool) -> list[object]:
    """Return which modules of ours the first send of a process reads, and if the SDK and the module that sends were there before it."""
    program = PROGRAM + CLOUDS[cloud].replace("WARM", str(warm))
    environment = {**os.environ, "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:1"}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    found: list[object] = json.loads(ended.stderr.splitlines()[0])
    return found


@pytest.mark.parametrize("cloud", CLOUDS)
def test_where_it_is_asked_for_the_first_send_reads_nothing(cloud: str) -> None:
    assert first_send(cloud, warm=True) == [[], True, True]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_else_the_first_send_reads_what_sends_too_so_that_settling_need_not(cloud: str) -> None:
    read, sdk, _ = first_send(cloud, warm=False)

    assert isinstance(read, list)
    assert (sdk, {"recoverable._outgoing.outbox", SENDS[cloud]} - {*read}) == (False, set())
