"""Check that the world runs without boto3, with errors of the same shape, and that the Service Bus world names its missing extra."""

from __future__ import annotations

import subprocess
import sys

from deadlines import DEADLINE

PROGRAM = """
import sys
sys.modules["boto3"] = sys.modules["botocore"] = None  # importing them fails
from recoverable_local.testing import SqsWorld, Throttled, Unreachable

world = SqsWorld(create_missing=False)
try:
    world.client.send_message(QueueUrl="missing", MessageBody="x")
except world.client.exceptions.QueueDoesNotExist as error:
    print(error.response["Error"]["Code"], error)

def call(_event, _context):
    try:
        world.client.send_message(QueueUrl="orders", MessageBody="x")
    except ConnectionError as error:
        print(error)

world.create_queue("orders")
world.serve("orders", call)
world.fail("send_message", Unreachable())
world.send("orders", "x")
world.run()
"""


def test_the_world_needs_no_boto3() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=DEADLINE)
    code = "AWS.SimpleQueueService.NonExistentQueue"
    assert (run.stderr, run.stdout.splitlines()) == (
        "",
        [
            f"{code} An error occurred ({code}) when calling the SendMessage operation: The specified queue does not exist.",
            "EndpointConnectionError: https://sqs.eu-central-1.amazonaws.com",
        ],
    )


def test_the_world_of_service_bus_says_what_to_install() -> None:
    program = "import sys; sys.modules['azure'] = None; from recoverable_local.testing import ServiceBusWorld"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=DEADLINE)

    assert run.stderr.rstrip().endswith("ServiceBusWorld needs the SDKs: write pip install 'recoverable[azure]'")
