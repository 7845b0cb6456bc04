"""Make the terminal's part of docs/run/error-queue.md from a real run, and write it into the page.

    PYTHONPATH=tests:functions/aws python -m docs.error_queue_page

The shop's own handler fails on a real SQS server and on the emulator of Service Bus, and `recoverable errors` is run there as the page
tells its reader to.
What differs from run to run is made the same: times, ids, ports, and the path of the function's code.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from aws.records import event, received
from azure.triggers import trigger_message
from deadlines import DEADLINE
from docs.pages import ROOT
from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.service_bus import Queue as BusQueue
from recoverable_local.service_bus import ServiceBusNamespace
from servers.moto import CREDENTIALS, REGION, client_at, moto_server
from servers.queues import Queue
from shop import CardDeclined, place_order

PAGE = ROOT / "docs" / "run" / "error-queue.md"
BLOCK = re.compile(r"^```console\n(\$ (?:recoverable errors|sed) .*?)^```$", re.MULTILINE | re.DOTALL)
ORDERS = ("no-bank", "no-bank", "no-bank", "declined")
ONCE = Recoverability(Immediate(0), Delayed(0), Failed("shop-orders-error", unrecoverable=(CardDeclined,)))
NAMESPACE = "shop.servicebus.windows.net"
"""The namespace of the page; what it says of it was run on loopback."""

SAME = (
    (
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(:\d{6} Z)?",
        lambda found: "2026-11-22 02:14:07" + ((found[1] and ":120000 Z") or ""),
    ),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", lambda _: "7f9c2ba4-1f51-4b5b-a6a1-2f2a1c8c2b1e"),
    (r"after \d+\.\d{3} s", lambda _: "after 0.017 s"),
    (r"\d\d:\d\d:\d\d UTC", lambda _: "02:19:07 UTC"),
    (r"hostid: [0-9a-f]{32}", lambda _: "hostid: 0f343b0931126a20f133d67c2b018a3b"),
    (re.escape(str(ROOT / "functions" / "aws")), lambda _: "/var/task"),
    (r"(?<=ProcessingMachine: )[\w-]+$", lambda _: "shop-7f9c2ba4"),
)
"""What differs from run to run, and what is written instead."""


def fail_orders() -> None:
    """Leave what the shop cannot do in its error queue, on the server that the environment names."""
    client = client_at(os.environ["AWS_ENDPOINT_URL_SQS"])
    error = Queue(client, "shop-orders-error", {})
    policy = f'{{"deadLetterTargetArn": "{error.arn}", "maxReceiveCount": 50}}'
    orders = Queue(client, "shop-orders", {"RedrivePolicy": policy})
    endpoint = SqsEndpoint(place_order, ONCE)
    for body in bodies():
        orders.send(body)
    records = [received(message, orders.arn) for message in orders.receive()]
    endpoint(event(*sorted(records, key=lambda record: str(record["body"]))), Lasting())
    for record in records:
        client.delete_message(QueueUrl=orders.url, ReceiptHandle=str(record["receiptHandle"]))


def fail_orders_on_azure() -> None:
    """Leave the same in the error queue of the namespace whose connection the environment has."""
    endpoint = ServiceBusEndpoint(place_order, ONCE, queue="shop-orders", connection="SERVICE_BUS_CONNECTION")
    for number, body in enumerate(bodies()):
        endpoint(trigger_message(body.encode(), MessageId=f"order-{1001 + number}", SequenceNumber=42 + number))


def bodies() -> list[str]:
    """Return the bodies of the orders."""
    return [f'{{"id": "{number}", "card": "{card}"}}' for number, card in enumerate(ORDERS, start=1001)]


class Lasting:
    """Lambda's context with time enough."""

    aws_request_id = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"
    log_group_name = "/aws/lambda/shop-orders"
    log_stream_name = "2026/11/22/[7]58419525"
    function_version = "7"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def run_block(command: str, folder: str, port: int) -> str:
    """Run a command in a folder, and return what the terminal shows.

    Args:
        command: `recoverable …`, or another command of a shell.
        folder: where it runs.
        port: that of the namespace on loopback.
    """
    here = f"127.0.0.1:{port}"
    words = shlex.split(command.replace(NAMESPACE, here))
    if words[0] == "recoverable":
        words = [sys.executable, "-m", "recoverable_operate", *words[1:]]
        words += [] if "sb://" in command else ["--poll", "0"]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=DEADLINE, cwd=folder
    )
    shown = (
        re.sub(r"python\S* -m recoverable_operate", "recoverable", done.stdout)
        .replace(" --poll 0", "")
        .replace(here, NAMESPACE)
    )
    return f"$ {command}\n{same(shown)}"


def same(shown: str) -> str:
    """Return what was shown, with what differs from run to run made the same."""
    for pattern, instead in SAME:
        shown = re.sub(pattern, instead, shown, flags=re.MULTILINE)
    return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())


def fresh_page() -> str:
    """Return the page with its blocks made anew."""
    queues = [BusQueue("shop-orders"), BusQueue("shop-orders-error")]
    with moto_server() as url, ServiceBusNamespace(queues) as bus, tempfile.TemporaryDirectory() as folder:
        lambda_environment = {
            "AWS_LAMBDA_FUNCTION_NAME": "shop-orders",
            "AWS_LAMBDA_LOG_STREAM_NAME": Lasting.log_stream_name,
        }
        own: dict[str, Any] = {
            **CREDENTIALS, **lambda_environment, "AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL_SQS": url, "XDG_STATE_HOME": folder, "SERVICE_BUS_CONNECTION": bus.connection_string,
        }  # fmt: skip
        before = dict(os.environ)
        os.environ.update(own)
        try:
            fail_orders()
            fail_orders_on_azure()

            def run(block: re.Match[str]) -> str:
                """Return the block as it is now."""
                command = block[1].splitlines()[0].removeprefix("$ ")
                return f"```console\n{run_block(command, folder, bus.port)}```"

            return BLOCK.sub(run, PAGE.read_text())
        finally:
            os.environ.clear()
            os.environ.update(before)


if __name__ == "__main__":
    Path(PAGE).write_text(fresh_page())
