"""Turn the errors of DynamoDB and S3 into the port's."""

from __future__ import annotations

from recoverable.timeouts._stores.rows import StoreUnavailable


class ConditionFailed(Exception):
    """Raised when the condition of a write does not hold."""


ConditionFailed.__module__ = "recoverable.timeouts.dynamodb_errors"  # the name under which it has always been logged


def code_of(error: BaseException | None) -> str:
    """Return the error's code, if the service itself gave one."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def http_status_of(error: BaseException) -> int:
    """Return the status of the service's answer; 0 where there was none."""
    response = getattr(error, "response", None)
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) if isinstance(response, dict) else 0


def unavailable(error: Exception, service: str = "DynamoDB") -> StoreUnavailable:
    """Return the error as the port's. Of an error that is not the service's own it shows the type only, for some quote what was sent."""
    if isinstance(error, ModuleNotFoundError):
        return StoreUnavailable(f"{error}; Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'")
    return StoreUnavailable(f"{service}: {error if code_of(error) else type(error).__name__}")
