"""Prints the milliseconds of a process's first failure, from the event to the response: `first_failure.py URL late|init|warm`.

"late" makes the client when it is needed, as we do by default; "init" has it made beside the endpoint; "warm" is a second failure.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import awslambdaric.bootstrap  # noqa: F401  # what is there before any handler

from subjects import Context, event

os.environ |= {"AWS_ENDPOINT_URL_SQS": sys.argv[1], "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}


def milliseconds(when: str) -> float:
    """Measure one batch of ten failures that move to the error queue."""
    from recoverable import Delayed, Immediate, Message, Recoverability
    from recoverable.aws import SqsEndpoint

    def fail(message: Message) -> None:
        raise ValueError(message.id)

    endpoint = SqsEndpoint(fail, Recoverability(Immediate(0), Delayed(0)), client=made() if when == "init" else None)
    if when == "warm":
        endpoint(event(10), Context())
    start = time.perf_counter()
    assert endpoint(event(10), Context()) == {"batchItemFailures": []}
    return (time.perf_counter() - start) * 1e3


def made() -> Any:
    """Return a client made at init."""
    import boto3

    return boto3.client("sqs", region_name="eu-central-1")


if __name__ == "__main__":
    print(milliseconds(sys.argv[2]))  # noqa: T201  # read by bench.py
