"""The errors of a boto3 client, made from what SQS refuses: the one place that knows botocore."""

from __future__ import annotations

from functools import cache
from typing import Any

from recoverable_local.testing.aws.broker.queues import ENDPOINT
from recoverable_local.testing.aws.broker.refusals import Refusal


class Exceptions:
    """The errors by name, as `client.exceptions` has them."""

    def __getattr__(self, name: str) -> type[Exception]:
        return client_error_type() if name == "ClientError" else named_error(name)


@cache
def client_error_type() -> type[Exception]:
    """The ClientError of botocore; where there is no botocore, one of the same shape."""
    try:
        from botocore.exceptions import ClientError
    except ImportError:
        return BareClientError
    return ClientError


class BareClientError(Exception):
    """What botocore's ClientError is to programs, for where there is none.

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
    """The class of one error of SQS."""
    return type(name, (client_error_type(),), {})


def client_error(refusal: Refusal, operation: str) -> Exception:
    """The refusal as a boto3 client raises it."""
    kind = "Sender" if refusal.status < 500 else "Receiver"  # noqa: PLR2004  # HTTP's border between the two
    error = {"Message": refusal.message, "Code": refusal.code, "Type": kind, "QueryErrorCode": refusal.shape}
    response = {"Error": error, "ResponseMetadata": metadata(refusal.status)}
    return named_error(refusal.shape)(response, operation.title().replace("_", ""))


def connection_error(name: str) -> Exception:
    """What botocore raises when there is no answer; where there is no botocore, Python's own error."""
    try:
        from botocore import exceptions
    except ImportError:
        return ConnectionError(f"{name}: {ENDPOINT}")
    error: Exception = getattr(exceptions, name)(endpoint_url=ENDPOINT)
    return error


def metadata(status: int) -> dict[str, Any]:
    """What botocore tells of the HTTP answer."""
    return {
        "RequestId": "00000000-0000-0000-0000-000000000000",
        "HTTPStatusCode": status,
        "HTTPHeaders": {},
        "RetryAttempts": 0,
    }
