"""Prints the milliseconds that a way to make an SQS client takes, import included: `clients.py boto3`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import awslambdaric.bootstrap  # noqa: F401  # what is there before any handler

os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
REGION = "eu-central-1"


def boto3() -> None:
    """Make a client with boto3, which Lambda's runtimes carry."""
    import boto3

    boto3.client("sqs", region_name=REGION)


def botocore() -> None:
    """Make a client with botocore, without boto3's session and resources."""
    import botocore.session

    botocore.session.get_session().create_client("sqs", region_name=REGION)


def bare() -> None:
    """Make a client with botocore, without its built-in event handlers."""
    import botocore.session

    botocore.session.Session(include_builtin_handlers=False).create_client("sqs", region_name=REGION)


def located() -> None:
    """Make a client with botocore and a given endpoint, so that none is searched for."""
    import botocore.session

    url = f"https://sqs.{REGION}.amazonaws.com"
    botocore.session.get_session().create_client("sqs", region_name=REGION, endpoint_url=url)


WAYS: dict[str, Callable[[], None]] = {"boto3": boto3, "botocore": botocore, "bare": bare, "located": located}

if __name__ == "__main__":
    start = time.perf_counter()
    WAYS[sys.argv[1]]()
    print((time.perf_counter() - start) * 1e3)  # noqa: T201  # read by bench.py
