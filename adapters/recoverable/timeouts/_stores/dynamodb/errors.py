"""Turn the errors of DynamoDB and S3 into the port's."""

from __future__ import annotations

from recoverable._sqs.answers import describe_error
from recoverable.timeouts._stores.rows import StoreUnavailable


class ConditionFailed(Exception):
    """Raised when the condition of a write does not hold."""


ConditionFailed.__module__ = "recoverable.timeouts.dynamodb_errors"  # the name under which it has always been logged


def unavailable(error: Exception, service: str = "DynamoDB") -> StoreUnavailable:
    """Return the error as the port's. Of an error that is not the service's own it shows the type only, for some quote what was sent."""
    if isinstance(error, ModuleNotFoundError):
        return StoreUnavailable(describe_error(error))
    return StoreUnavailable(f"{service}: {describe_error(error)}")
