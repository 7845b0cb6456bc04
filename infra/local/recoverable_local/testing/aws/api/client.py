"""Turn refusals of SQS into the errors of a boto3 client: the one place that knows botocore."""

from __future__ import annotations

from datetime import datetime
from email.utils import format_datetime
from functools import cache
from typing import Any

from recoverable_local.testing.aws.broker.queues import ENDPOINT
from recoverable_local.testing.aws.broker.refusals import Refusal


class Exceptions:
    """The error classes by name, as `client.exceptions` has them."""

    def __getattr__(self, name: str) -> type[Exception]:
        return client_error_type() if name == "ClientError" else named_error(name)


@cache
def client_error_type() -> type[Exception]:
    """Return botocore's ClientError; without botocore, a class of the same shape."""
    try:
        from botocore.exceptions import ClientError
    except ImportError:
        return BareClientError
    return ClientError


class BareClientError(Exception):
    """Stands in for botocore's ClientError where botocore is not installed.

    Args:
        error_response: the error as botocore parses it.
        operation_name: the operation in the API's words.
    """

    def __init__(self, error_response: dict[str, Any], operation_name: str) -> None:
        error = error_response["Error"]
        super().__init__(
            f"An error occurred ({error['Code']}) when calling the {operation_name} operation: {error['Message']}"
        )
        self.response, self.operation_name = error_response, operation_name


@cache
def named_error(name: str) -> type[Exception]:
    """Return the class of one SQS error."""
    return type(name, (client_error_type(),), {})


def client_error(refusal: Refusal, operation: str, now: datetime) -> Exception:
    """Return the refusal as the error that a boto3 client raises."""
    kind = "Sender" if refusal.status < 500 else "Receiver"  # noqa: PLR2004  # HTTP's border between the two
    error = {"Message": refusal.message, "Code": refusal.code, "Type": kind, "QueryErrorCode": refusal.shape}
    response = {"Error": error, "ResponseMetadata": metadata(refusal.status, now)}
    return named_error(refusal.shape)(response, operation.title().replace("_", ""))


def connection_error(name: str) -> Exception:
    """Return the error that botocore raises when there is no answer; without botocore, Python's own."""
    try:
        from botocore import exceptions
    except ImportError:
        return ConnectionError(f"{name}: {ENDPOINT}")
    cause = ConnectionError("Connection aborted.", ConnectionResetError("Reset by the test."))  # as urllib3 has it
    error: Exception = getattr(exceptions, name)(endpoint_url=ENDPOINT, error=cause)
    return error


def metadata(status: int, now: datetime) -> dict[str, Any]:
    """Return botocore's `ResponseMetadata` of an answer, which SQS dates."""
    return {
        "RequestId": "00000000-0000-0000-0000-000000000000",
        "HTTPStatusCode": status,
        "HTTPHeaders": {"date": format_datetime(now, usegmt=True)},
        "RetryAttempts": 0,
    }
