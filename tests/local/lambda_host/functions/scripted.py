"""A Lambda function that does what each message's body tells it, so that a test states all that happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 3600  # seconds, longer than any test; whoever waits at a gate ends with the process


def handler(event: dict[str, Any], context: Any) -> Any:
    """Work through the records; a script is followed on as many receives as its `times` says, and then the message succeeds."""
    answer: Any = {"batchItemFailures": []}
    for record in event["Records"]:
        script = json.loads(record["body"])
        if int(record["attributes"]["ApproximateReceiveCount"]) > script.get("times", 1):
            continue
        if script["do"] == "fail":
            answer["batchItemFailures"].append({"itemIdentifier": record["messageId"]})
        elif script["do"] == "answer":
            return script["answer"]
        else:
            DEEDS[script["do"]](script, event, context)
    return answer


def refuse(script: dict[str, Any], event: dict[str, Any], context: Any) -> None:
    raise ValueError("no such card")


def await_gate(script: dict[str, Any], event: dict[str, Any], context: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not Path(script["gate"]).exists() and time.monotonic() < end:
        time.sleep(0.01)


def tell(script: dict[str, Any], event: dict[str, Any], context: Any) -> None:
    """Write down what the function was given."""
    told = {
        "records": event["Records"],
        "environment": dict(os.environ),
        "context": {name: str(value) for name, value in vars(context).items()},
        "milliseconds left": context.get_remaining_time_in_millis(),
        "folder": str(Path.cwd()),
        "path": sys.path,
    }
    Path(script["file"]).write_text(json.dumps(told), encoding="utf-8")


def start_child(script: dict[str, Any], event: dict[str, Any], context: Any) -> None:
    """Start a process and then do something else."""
    child = subprocess.Popen(["sleep", "60"])
    Path(script["file"]).write_text(str(child.pid), encoding="utf-8")
    DEEDS[script["then"]](script, event, context)


def send(script: dict[str, Any], event: dict[str, Any], context: Any) -> None:
    import boto3

    url = os.environ["ERROR_QUEUE_URL"]
    boto3.client("sqs").send_message(QueueUrl=url, MessageBody="sent by the function")


DEEDS: dict[str, Callable[..., object]] = {
    "succeed": lambda *_: None,
    "raise": refuse,
    "exit": lambda *_: sys.exit(3),
    "crash": lambda *_: os._exit(4),
    "sleep": lambda *_: time.sleep(60),
    "wait": await_gate,
    "print": lambda script, *_: sys.stdout.write(script["text"] * script.get("copies", 1) + "\n"),
    "complain": lambda script, *_: sys.stderr.write(script["text"] + "\n"),
    "tell": tell,
    "child": start_child,
    "send": send,
}
