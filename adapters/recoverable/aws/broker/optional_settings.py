"""Check the settings of an endpoint that most endpoints leave out."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable.aws.time_budget import LONGEST_INVOCATION
from recoverable.limits import checked_delay

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from recoverable.timeouts import Timeouts


def check_optional(
    owner: str,
    client: SQSClient | None,
    handler_timeout: timedelta | None,
    timeouts: Timeouts | None,
    visibility_timeout: timedelta | None,
    *,
    settle_within: timedelta,
) -> None:
    """Check those of an endpoint's optional settings that are given; see `SqsEndpoint`.

    Args:
        owner: the name of the class that was given them, for errors.
        client: the SQS client.
        handler_timeout: how long a handler may run.
        timeouts: where long delays are stored.
        visibility_timeout: the shortest time for which a received message stays hidden.
        settle_within: the time kept for settling, which a store must answer in.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range.
    """
    if handler_timeout is not None and not checked_delay(
        f"{owner}(handler_timeout)", handler_timeout, LONGEST_INVOCATION
    ):
        raise ValueError(f"{owner}(handler_timeout) is 0; write how long a handler may run, or None")
    if client is not None:
        from recoverable.aws.broker.given_client import check_client  # noqa: PLC0415  # for those who give one

        check_client(owner, client)
    if timeouts is not None:
        from recoverable.timeouts.holding import check_timeouts  # noqa: PLC0415  # for those who store

        check_timeouts(owner, timeouts, settle_within)
    if visibility_timeout is not None:
        checked_delay(f"{owner}(visibility_timeout)", visibility_timeout, LONGEST_INVOCATION)
