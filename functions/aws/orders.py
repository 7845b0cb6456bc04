"""Read the orders queue on Lambda."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.aws import SqsEndpoint
from shop import CardDeclined, place_order

if TYPE_CHECKING:
    from recoverable import Observe, RateLimit
    from recoverable.timeouts import Timeouts


def rate_limit() -> RateLimit | None:
    """Return the rate limit that the environment asks for. Without one, nothing of it is imported."""
    failures = int(os.environ.get("RATE_LIMIT_AFTER", "0"))
    if not failures:
        return None
    from limiting import rate_limit_after  # noqa: PLC0415

    return rate_limit_after(failures)


def timeouts() -> Timeouts | None:
    """Return the store for delays that are too long for SQS, if the environment names a table. Without one, such delays hop."""
    table = os.environ.get("TIMEOUTS_TABLE")
    if not table:
        return None
    from recoverable.timeouts import DynamoDBStore, Timeouts  # noqa: PLC0415

    return Timeouts(DynamoDBStore(table, bucket=os.environ.get("TIMEOUTS_BUCKET") or None))


def observe() -> Observe | None:
    """Return settings that print metrics, if the environment names a namespace for them. Without one, nothing of it is imported."""
    namespace = os.environ.get("METRICS_NAMESPACE")
    if not namespace:
        return None
    from recoverable import Observe  # noqa: PLC0415

    return Observe(cloudwatch_namespace=namespace)


handler = SqsEndpoint(
    place_order,
    Recoverability(
        immediate=Immediate(max_retries=int(os.environ.get("IMMEDIATE_RETRIES", "5"))),
        delayed=Delayed(
            max_retries=int(os.environ.get("DELAYED_RETRIES", "3")),
            time_increase=timedelta(seconds=float(os.environ.get("TIME_INCREASE_SECONDS", "10"))),
        ),
        failed=Failed(unrecoverable=(CardDeclined,)),
        rate_limit=rate_limit(),
        observe=observe(),
    ),
    longest_delay=timedelta(seconds=float(os.environ.get("LONGEST_DELAY_SECONDS", "900"))),
    timeouts=timeouts(),
)
