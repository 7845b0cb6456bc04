"""Make the terminal's part of docs/messages-in-the-error-queue.md from a real run, and write it into the page.

    PYTHONPATH=tests:functions/aws python -m docs.error_queue_page

The shop's own handler fails on a real SQS server, and `recoverable errors` is run there as the page tells its reader to.
What differs from run to run is made the same: times, ids, ports, and the path of the function's code.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aws.records import event, received
from docs.pages import ROOT
from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.aws import SqsEndpoint
from servers.moto import CREDENTIALS, REGION, client_at, moto_server
from servers.queues import Queue
from shop import CardDeclined, place_order

PAGE = ROOT / "docs" / "messages-in-the-error-queue.md"
BLOCK = re.compile(r"^```console\n(\$ recoverable errors .*?)^```$", re.MULTILINE | re.DOTALL)
ORDERS = ("no-bank", "no-bank", "no-bank", "declined")

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
)
"""What differs from run to run, and what is written instead."""


def fail_orders() -> None:
    """Leave what the shop cannot do in its error queue, on the server that the environment names."""
    client = client_at(os.environ["AWS_ENDPOINT_URL_SQS"])
    error = Queue(client, "shop-orders-error", {})
    policy = f'{{"deadLetterTargetArn": "{error.arn}", "maxReceiveCount": 50}}'
    orders = Queue(client, "shop-orders", {"RedrivePolicy": policy})
    once = Recoverability(Immediate(0), Delayed(0), Failed(error.name, unrecoverable=(CardDeclined,)))
    endpoint = SqsEndpoint(place_order, once)
    for number, card in enumerate(ORDERS, start=1001):
        orders.send(f'{{"id": "{number}", "card": "{card}"}}')
    records = [received(message, orders.arn) for message in orders.receive()]
    endpoint(event(*sorted(records, key=lambda record: str(record["body"]))), Lasting())
    for record in records:
        client.delete_message(QueueUrl=orders.url, ReceiptHandle=str(record["receiptHandle"]))


class Lasting:
    """Lambda's context with time enough."""

    aws_request_id = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"
    log_group_name = "/aws/lambda/shop-orders"
    log_stream_name = "2026/11/22/[7]58419525"
    function_version = "7"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def run_blocks(commands: list[str]) -> Iterator[str]:
    """Run the commands one after the other, and yield what the terminal shows for each."""
    for command in commands:
        words = [sys.executable, "-m", "recoverable", *shlex.split(command)[1:], "--poll", "0"]
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120
        )
        shown = re.sub(r"python\S* -m recoverable", "recoverable", done.stdout).replace(" --poll 0", "")
        yield f"$ {command}\n{same(shown)}"


def same(shown: str) -> str:
    """Return what was shown, with what differs from run to run made the same."""
    for pattern, instead in SAME:
        shown = re.sub(pattern, instead, shown)
    return "\n".join(line.rstrip() for line in shown.splitlines()) + "\n"


def fresh_page() -> str:
    """Return the page with its blocks made anew."""
    text = PAGE.read_text()
    commands = [block.splitlines()[0].removeprefix("$ ") for block in BLOCK.findall(text)]
    with moto_server() as url, tempfile.TemporaryDirectory() as state:
        lambda_environment = {
            "AWS_LAMBDA_FUNCTION_NAME": "shop-orders",
            "AWS_LAMBDA_LOG_STREAM_NAME": Lasting.log_stream_name,
        }
        own: dict[str, Any] = {
            **CREDENTIALS, **lambda_environment, "AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL_SQS": url, "XDG_STATE_HOME": state,
        }  # fmt: skip
        before = dict(os.environ)
        os.environ.update(own)
        try:
            fail_orders()
            shown = run_blocks(commands)
            return BLOCK.sub(lambda _: f"```console\n{next(shown)}```", text)
        finally:
            os.environ.clear()
            os.environ.update(before)


if __name__ == "__main__":
    Path(PAGE).write_text(fresh_page())
