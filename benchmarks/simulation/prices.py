"""What AWS charges, and what a simulated run would have cost: list prices of us-east-1 in 2026, without free tiers and volume discounts."""

from __future__ import annotations

from collections.abc import Sized
from math import ceil

SQS_REQUEST = 0.40 / 1_000_000
"""Dollars for a request to a standard queue, the first 100 billion a month (Amazon SQS pricing, us-east-1)."""

SQS_CHUNK = 64 * 1024
"""Bytes of payload that one request pays for: a larger one counts as several (Amazon SQS pricing)."""

LAMBDA_REQUEST = 0.20 / 1_000_000
"""Dollars for an invocation (AWS Lambda pricing, us-east-1)."""

LAMBDA_GB_SECOND = 0.0000133334
"""Dollars for a second of 1,024 MB on arm64, the first 7.5 billion a month (AWS Lambda pricing, us-east-1)."""

LOG_GB = 0.50
"""Dollars for 10⁹ bytes of log, the first 10 TB of Lambda's a month (Amazon CloudWatch pricing, us-east-1)."""

MEMORY = 256 / 1024
"""Gigabytes of the function: what template.yaml gives it."""


def chunks(payload: Sized) -> int:
    """Return the requests that SQS bills for one with this payload."""
    return max(ceil(len(payload) / SQS_CHUNK), 1)


def sqs_dollars(requests: float) -> float:
    """Return what so many billed requests cost."""
    return requests * SQS_REQUEST


def lambda_dollars(invocations: float, seconds: float) -> float:
    """Return what so many invocations, so many seconds long in all, cost."""
    return invocations * LAMBDA_REQUEST + seconds * MEMORY * LAMBDA_GB_SECOND


def log_dollars(size: float) -> float:
    """Return what so many bytes of log cost."""
    return size / 1_000_000_000 * LOG_GB
