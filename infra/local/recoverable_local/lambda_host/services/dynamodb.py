"""Make all calls of the host to DynamoDB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recoverable_local.lambda_host.services.clients import config, session

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"
"""The variable with DynamoDB's endpoint when it differs from the other services'; AWS SDKs, "Service-specific endpoints"."""


class DynamoDb:
    """A client of one endpoint.

    Args:
        endpoint_url: Where DynamoDB is served.
        region: The AWS region in ARNs and signatures.
    """

    def __init__(self, endpoint_url: str, *, region: str) -> None:
        self._client: DynamoDBClient = session(region).client("dynamodb", endpoint_url=endpoint_url, config=config(1))

    def create(self, name: str, definition: Mapping[str, Any]) -> str:
        """Create a table with on-demand billing, or use the existing one of that name with its items. Return its ARN.

        Args:
            name: The table's name.
            definition: Its keys and indexes, as in the DynamoDB API.

        Raises:
            ValueError: A table of that name exists with other keys.
        """
        with suppress(self._client.exceptions.ResourceInUseException):  # it exists already
            self._client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **definition)
        self._client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
        table = self._client.describe_table(TableName=name)["Table"]
        if _keys(table["KeySchema"]) != _keys(wanted := definition["KeySchema"]):
            raise ValueError(
                f"The table {name!r} exists already with the keys {table['KeySchema']}, but the template has"
                f" {wanted}; delete it, or choose another stack name."
            )
        return table["TableArn"]

    def delete_table(self, name: str) -> None:
        """Delete a table with all its items."""
        self._client.delete_table(TableName=name)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _keys(schema: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {key["AttributeName"]: key["KeyType"] for key in schema}
