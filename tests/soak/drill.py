"""A night drill on a local host: thousands of messages fail, an operator mends the cause and sends them back, and each is processed once.

PYTHONPATH=tests python -m soak.drill --cloud aws --messages 5000
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from recoverable_local.functions_host import MINIMAL_HOST_JSON, LocalFunctions
from recoverable_local.lambda_host import LocalAws

DEADLINE = timedelta(minutes=30)

HANDLER = """
import os
from pathlib import Path
from recoverable import Delayed, Failed, Immediate, Recoverability

class BankAway(Exception): ...

once = Recoverability(Immediate(max_retries=0), Delayed(max_retries=0), Failed(error_queue="orders-error"))

def place_order(message):
    folder = Path(os.environ["DRILL"])
    if (folder / "broken").exists():
        raise BankAway("no answer")
    with open(folder / "placed", "a") as placed:
        placed.write(message.text + "\\n")
"""
ON_AWS = HANDLER + "\nfrom recoverable.aws import SqsEndpoint\nhandler = SqsEndpoint(place_order, once)\n"
ON_AZURE = (
    HANDLER
    + """
import azure.functions as func
from recoverable.azure import ServiceBusEndpoint
app = func.FunctionApp()
app.register_functions(ServiceBusEndpoint(place_order, once, queue="orders", connection="ServiceBus").blueprint())
"""
)
TEMPLATE = """
AWSTemplateFormatVersion: "2010-09-09"
Transform: AWS::Serverless-2016-10-31
Resources:
  ErrorQueue: {Type: AWS::SQS::Queue, Properties: {QueueName: orders-error}}
  OrdersQueue:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: orders
      VisibilityTimeout: 180
      RedrivePolicy: {deadLetterTargetArn: !GetAtt ErrorQueue.Arn, maxReceiveCount: 11}
  Orders:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: .
      Handler: app.handler
      Runtime: python3.13
      Timeout: 30
      Events:
        Orders:
          Type: SQS
          Properties: {Queue: !GetAtt OrdersQueue.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}
"""


def main() -> int:
    """Run the drill. Return the exit status: 1 if a message was not processed exactly once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cloud", choices=("aws", "azure"), action="append")
    parser.add_argument("--messages", type=int, default=5_000)
    arguments = parser.parse_args()
    drills = {"aws": drill_on_aws, "azure": drill_on_azure}
    return max(drills[cloud](arguments.messages) for cloud in arguments.cloud or drills)


def drill_on_aws(messages: int) -> int:
    """Run the drill on the local Lambda host and its own SQS."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "app.py").write_text(ON_AWS)
        (folder / "template.yaml").write_text(TEMPLATE)
        with LocalAws.from_template(folder / "template.yaml", environment={"DRILL": name}) as host:
            keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": "us-east-1"}
            reach = ["--queue", "orders-error", "--endpoint-url", host.endpoint_url, "--poll", "0"]
            return drill(
                host,
                folder,
                messages,
                send=lambda bodies: [host.send("orders", each) for each in bodies],
                waiting=lambda: host.queue("orders-error").depth().total,
                retry=lambda: retry([*reach, "--yes"], keys),
            )


def drill_on_azure(messages: int) -> int:
    """Run the drill on the local Functions host and its own Service Bus."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "function_app.py").write_text(ON_AZURE)
        (folder / "host.json").write_text(MINIMAL_HOST_JSON)
        with LocalFunctions.from_folder(folder, app_settings={"DRILL": name}) as host:
            assert host.namespace is not None
            text = host.namespace.connection_string
            address = f"sb://127.0.0.1:{host.namespace.port}/orders-error"
            reach = ["--queue", address, "--allow", "orders", "--max-delivery-count", "100", "--yes"]
            return drill(
                host,
                folder,
                messages,
                send=lambda bodies: host.send("orders", *bodies),
                waiting=lambda: host.queue("orders-error").depth().total,
                retry=lambda: retry(reach, {"SERVICE_BUS_CONNECTION": text}),
            )


def drill(
    host: LocalAws | LocalFunctions,
    folder: Path,
    messages: int,
    *,
    send: Callable[[list[str]], object],
    waiting: Callable[[], int],
    retry: Callable[[], None],
) -> int:
    """Have messages fail, mend the cause, send them back, and count how often each was processed.

    Args:
        host: Runs the handler.
        folder: Its folder, with the file `broken` while all fails, and `placed` in the end.
        messages: How many there are.
        send: Sends messages of these bodies.
        waiting: Returns how many messages the error queue holds.
        retry: Sends them back.
    """
    (folder / "broken").touch()
    bodies = [str(number) for number in range(messages)]
    for start in range(0, messages, 100):
        send(bodies[start : start + 100])
    host.run_until(lambda: waiting() >= messages, deadline=DEADLINE)
    (folder / "broken").unlink()
    retry()
    host.run_until(lambda: len(placed(folder)) >= messages, deadline=DEADLINE)
    counted = Counter(placed(folder))
    lost, twice = set(bodies) - counted.keys(), sum(count > 1 for count in counted.values())
    report = f"{messages} messages failed and were sent back; {len(lost)} lost, {twice} processed twice, {waiting()} left in the error queue."
    sys.stdout.write(f"{type(host).__name__}: {report}\n")
    return int(bool(lost) or waiting() > 0)


def placed(folder: Path) -> list[str]:
    """Return the bodies of the messages that were processed."""
    file = folder / "placed"
    return file.read_text().split() if file.exists() else []


def retry(words: list[str], variables: dict[str, Any]) -> None:
    """Run `recoverable errors retry` as an operator does.

    Raises:
        CalledProcessError: It fails.
    """
    command = [sys.executable, "-m", "recoverable_operate", "errors", "retry", *words, "--rate", "0", "--quiet"]
    with tempfile.TemporaryDirectory() as state:
        subprocess.run(command, env={**os.environ, **variables, "XDG_STATE_HOME": state}, check=True)


if __name__ == "__main__":
    sys.exit(main())
