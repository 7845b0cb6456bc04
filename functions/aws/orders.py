"""Read the orders queue on Lambda."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable import Failed, Recoverability
from recoverable.aws import SqsEndpoint
from shop import CardDeclined, place_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recoverable import RateLimit
    from recoverable.timeouts import Timeouts


def rate_limit(limit: RateLimit) -> RateLimit:
    """Return the rate limit of the environment, which all instances share. Without one, nothing of it is imported."""
    from limiting import over_all_instances  # noqa: PLC0415

    return over_all_instances(limit)


def timeouts() -> Timeouts | None:
    """Return the store for delays that are too long for SQS, if the environment names a table. Without one, such delays hop."""
    table = os.environ.get("TIMEOUTS_TABLE")
    if not table:
        return None
    from recoverable.timeouts import DynamoDbStore, Timeouts  # noqa: PLC0415

    return Timeouts(DynamoDbStore(table, bucket=os.environ.get("TIMEOUTS_BUCKET") or None))


def extensions() -> Iterator[object]:
    """Yield what the environment switches on. What it does not name is not imported."""
    if bucket := os.environ.get("LARGE_BODIES_BUCKET"):
        from recoverable.extensions import S3Bodies  # noqa: PLC0415

        yield S3Bodies(buckets=(bucket,))
    if namespace := os.environ.get("METRICS_NAMESPACE"):
        from recoverable.extensions import Observe  # noqa: PLC0415

        yield Observe(cloudwatch_namespace=namespace)


handler = SqsEndpoint(
    place_order,
    Recoverability.from_environment(failed=Failed(unrecoverable=(CardDeclined,)), rate_limit=rate_limit),
    longest_delay=timedelta(seconds=float(os.environ.get("LONGEST_DELAY_SECONDS", "900"))),
    timeouts=timeouts(),
    extensions=tuple(extensions()),
)
