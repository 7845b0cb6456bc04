"""What a function imports until its first message is handled: each module costs every cold start."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from typing import NamedTuple

import pytest

from importing import instructions
from sources import DEAR

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

SDKS = {"azure", "boto3", "botocore", "urllib3"}


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


@pytest.mark.parametrize("module", sorted(DEAR | SDKS))
def test_nothing_dear_comes_with_us(module: str) -> None:
    assert module not in cold_start().files


def test_little_of_the_standard_library_comes_with_us() -> None:
    others = {name for name in cold_start().files if name.partition(".")[0] != "recoverable"}

    assert others <= {"_contextvars", "_datetime", "_signal", "contextvars", "datetime", "signal"}


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the ratios are those of Python 3.11")
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind, which counts instructions, is not installed")
@pytest.mark.parametrize(("compiled", "most"), [(True, 0.10), (False, 0.23)], ids=["with .pyc", "without .pyc"])
def test_a_cold_start_costs_a_part_of_powertools(*, compiled: bool, most: float) -> None:
    ours, theirs = (instructions(name, compiled=compiled) for name in ("ours", "theirs"))

    assert ours / theirs <= most, (ours, theirs)
