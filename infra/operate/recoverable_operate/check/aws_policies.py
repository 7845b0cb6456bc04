"""Read statements of IAM policies, and know AWS's own policies for functions, as far as they concern queues and keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recoverable_operate.check.permissions import Statement

MANAGED: Mapping[str, tuple[str, ...]] = {
    "AWSLambdaSQSQueueExecutionRole": ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"),
    "AWSLambdaBasicExecutionRole": (),
    "AWSLambdaVPCAccessExecutionRole": (),
    "AWSXRayDaemonWriteAccess": (),
    "AWSXrayWriteOnlyAccess": (),
    "CloudWatchLambdaInsightsExecutionRolePolicy": (),
    "AmazonSQSReadOnlyAccess": ("sqs:GetQueueAttributes",),
    "AmazonSQSFullAccess": ("sqs:*",),
    "PowerUserAccess": ("*",),
    "AdministratorAccess": ("*",),
}
"""What AWS's own policies allow on all queues and keys ("AWS managed policy reference")."""


def managed_statements(arn: str) -> Iterator[Statement | str]:
    """Yield what a managed policy allows, by its ARN or name; a text if it is not known here."""
    name = arn.rpartition("/")[2]
    if name in MANAGED:
        yield Statement(True, MANAGED[name], ("*",))  # noqa: FBT003
    else:
        yield f"the managed policy {name} is not read here"


def read_statement(statement: Mapping[str, Any]) -> Statement:
    """Return a statement of a policy document."""
    unclear = next(
        (f"a statement has a {name}" for name in ("Condition", "NotAction", "NotResource") if name in statement), ""
    )
    resources = statement.get("Resource", "*")
    return Statement(
        allow=statement.get("Effect") == "Allow",
        actions=texts(statement.get("Action", "*")),
        resources=None if resources is None else texts(resources),
        unclear=unclear,
    )


def texts(value: Any) -> tuple[str, ...]:
    """Return one text or several as several."""
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)
