"""What a function imports until its first message is handled: each module costs every cold start."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from sources import lines_of_code, runtime_modules

PROGRAM = """
import json, sys
import awslambdaric.bootstrap
before = set(sys.modules)

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint

def place_order(message: Message) -> None:
    message.json()

class Context:
    def get_remaining_time_in_millis(self):
        return 10_000

record = {
    "messageId": "059f36b4-87a3-44ab-83d2-661975830a7d",
    "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
    "body": '{"order": 42}',
    "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183"},
    "messageAttributes": {},
    "eventSource": "aws:sqs",
    "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:orders",
}
handler = SqsEndpoint(place_order, Recoverability(Immediate(2), Delayed(2)))
response = handler({"Records": [record]}, Context())
files = {name: getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before}
print(json.dumps({"response": response, "before": sorted(before), "files": files}))
"""

COSTLY = {"asyncio", "dataclasses", "hashlib", "inspect", "random", "typing", "traceback", "uuid", "zoneinfo"}
SDKS = {"azure", "boto3", "botocore", "urllib3"}
FAILURE_SIDE = {
    "_flow.drive_async", "_flow.event_loop", "_flow.settle", "_flow.signatures", "_observe.log",
    "headers", "_ladder.backoff", "_ladder.decision", "_ladder.delivery", "_ladder.faults", "_ladder.policy",
    "aws._large_bodies", "aws._options", "aws._reserve", "_sqs.broker", "aws._copies", "aws._settle", "_sqs.wire",
}  # fmt: skip


class Start(NamedTuple):
    """The result of a cold start.

    Args:
        response: what the handler answered.
        before: the modules that Lambda's runtime had imported.
        files: the modules that came with us, and their files.
    """

    response: object
    before: set[str]
    files: dict[str, str | None]


@cache
def cold_start() -> Start:
    """Start a fresh interpreter as Lambda does, and handle one good record."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    printed = json.loads(ended.stdout)
    return Start(printed["response"], set(printed["before"]), printed["files"])


def test_the_record_is_handled() -> None:
    assert cold_start().response == {"batchItemFailures": []}


@pytest.mark.parametrize("module", sorted(COSTLY | SDKS))
def test_nothing_costly_comes_with_us(module: str) -> None:
    assert module not in cold_start().files


@pytest.mark.parametrize("module", sorted(FAILURE_SIDE))
def test_the_failure_side_stays_away(module: str) -> None:
    assert f"recoverable.{module}" in runtime_modules() - cold_start().files.keys()


def test_little_of_the_standard_library_comes_with_us() -> None:
    others = {name for name in cold_start().files if name.partition(".")[0] != "recoverable"}

    assert others <= {"_contextvars", "_datetime", "contextvars", "datetime", "signal"}


def test_it_is_little_code() -> None:
    ours = {name: Path(str(path)) for name, path in cold_start().files.items() if name.startswith("recoverable")}
    code = sum(map(lines_of_code, ours.values()))
    whole = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in ours.values())

    print(f"{len(ours)} modules, {code} lines of code, {whole} lines with comments, docstrings and types")  # noqa: T201  # the figure
    assert "recoverable.aws._endpoint" in ours
    assert code < 1_000
