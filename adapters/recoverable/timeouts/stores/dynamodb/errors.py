"""DynamoDB's and S3's errors as the port's."""

from __future__ import annotations

from recoverable.timeouts.stores.rows import StoreUnavailable


class ConditionFailed(Exception):
    """The condition of a write does not hold."""


ConditionFailed.__module__ = "recoverable.timeouts.dynamodb_errors"  # the name under which it has always been logged


def code_of(error: BaseException | None) -> str:
    """The error's code, if the service itself gave one."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def unavailable(error: Exception, service: str = "DynamoDB") -> StoreUnavailable:
    """The error as the port's; of others than the service's own only the type is told, for some quote what was sent."""
    if isinstance(error, ModuleNotFoundError):
        return StoreUnavailable(f"{error}; Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'")
    return StoreUnavailable(f"{service}: {error if code_of(error) else type(error).__name__}")
