"""Check what a function imports that stores its delayed retries: no SDK, and nothing of the dispatcher."""

from __future__ import annotations

import json
import subprocess
import sys

from sources import DEAR, runtime_modules

PROGRAM = """
import json, sys
from recoverable.aws import SqsEndpoint
import logging
before = set(sys.modules)
from recoverable.timeouts import DynamoDbStore, Timeouts
Timeouts(DynamoDbStore("timeouts"))
print(json.dumps(sorted(set(sys.modules) - before)))
"""

COSTLY = DEAR | {"boto3", "botocore", "sqlite3", "uuid"}

NOT_FOR_A_STORE = {
    "recoverable._sqs.broker",
    "recoverable._service_bus.senders",
    "recoverable.timeouts._sending",
    "recoverable.timeouts._dispatcher",
}


def test_a_store_costs_a_cold_start_nothing_but_itself() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    imported = set(json.loads(ended.stdout))

    assert not imported & COSTLY
    assert runtime_modules() >= NOT_FOR_A_STORE
    assert not imported & NOT_FOR_A_STORE
