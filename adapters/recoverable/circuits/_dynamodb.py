"""Keep a circuit that instances share in one item of a DynamoDB table."""

from __future__ import annotations

from recoverable._errors import StoreUnavailable
from recoverable._limits import checked_queue
from recoverable._rate_limit.state import Snapshot, from_item, to_item
from recoverable._rate_limit.store import TIMEOUT, SharedCalls, seconds_of

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from typing import Any

    from mypy_boto3_dynamodb import DynamoDBClient

    from recoverable._rate_limit.state import Circuit

KEY, VERSION = "circuit", "version"
SLACK = 0.8
"""Seconds that a call gets beside its timeout for what is not network traffic: the name look-up, and reading
certificates on a small function's share of a processor."""

ABSENT = 0
"""The version of a circuit that was never changed, and has no item yet."""


class DynamoDbCircuit:
    """A circuit in DynamoDB: `RateLimit(..., store=DynamoDbCircuit("circuits", "orders"))`.

    The function needs `dynamodb:GetItem` and `dynamodb:PutItem` on the table, whose partition key is the text
    "circuit".

    Args:
        table: the table's name.
        name: the circuit's name; endpoints that share it are limited together.
        client: a boto3 DynamoDB client, instead of the one made when something first fails.
        timeout: how long the network may take for a call, up to 5 s. Then, or 0.8 s later where the name look-up hangs,
            the instance goes on without the store.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a blank name, or a timeout of 0 or above 5 s.
    """

    __slots__ = ("_calls", "_client", "_timeout", "name", "table")

    def __init__(
        self, table: str, name: str, *, client: DynamoDBClient | None = None, timeout: timedelta = TIMEOUT
    ) -> None:
        self.table = checked_queue("DynamoDbCircuit(table)", table)
        self.name = checked_queue("DynamoDbCircuit(name)", name)
        self._client, self._timeout = client, seconds_of("DynamoDbCircuit(timeout)", timeout)
        self._calls = SharedCalls()

    def read(self) -> Snapshot:
        """Return the circuit as it is.

        Raises:
            StoreUnavailable: it cannot be read now.
        """
        request: Any = {"TableName": self.table, "Key": {KEY: {"S": self.name}}, "ConsistentRead": True}
        answer = self._call(lambda client, timeout: self._calls.read(timeout, lambda: client.get_item(**request)))
        item = answer.get("Item", {})
        return from_item({name: value.get("S") for name, value in item.items()}, version_of(item))

    def compare_and_set(self, snapshot: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change the circuit if it still is as in the snapshot; None when another instance was faster.

        Raises:
            StoreUnavailable: it is not known whether it was changed.
        """
        seen = snapshot.version
        if not isinstance(seen, int):
            return None
        version = seen + 1
        texts = {KEY: self.name, **to_item(circuit, switch)}
        item: Any = {name: {"S": text} for name, text in texts.items()} | {VERSION: {"N": str(version)}}
        request: Any = {"TableName": self.table, "Item": item, "ConditionExpression": f"attribute_not_exists({KEY})"}
        if seen != ABSENT:
            values = {":snapshot": {"N": str(seen)}}
            request |= {"ConditionExpression": f"{VERSION} = :snapshot", "ExpressionAttributeValues": values}
        answer = self._call(
            lambda client, timeout: self._calls.change(seen, timeout, lambda: client.put_item(**request))
        )
        return Snapshot(circuit, version, switch) if answer else None

    def _call(self, call: Callable[[DynamoDBClient, float], Any]) -> Any:
        """Make one call and return its answer; None when its condition did not hold.

        Args:
            call: makes it, given the client and the seconds that it may take.
        """
        from recoverable._sqs.answers import CONDITION_FAILED, code_of, unavailable  # the failure side
        from recoverable._sqs.clients import client as process_client  # as above
        from recoverable._sqs.clients import given_client

        try:
            self._client = given_client(self._client)
            client = self._client or process_client("dynamodb", None, self._timeout)
            return call(client, self._timeout + SLACK)
        except TimeoutError as error:
            raise StoreUnavailable(f"DynamoDB gave no answer within {self._timeout + SLACK:g} s") from error
        except Exception as error:
            if code_of(error) == CONDITION_FAILED:
                return None
            raise unavailable(error, "DynamoDB") from error


def version_of(item: Any) -> int:
    """Return the version of an item.

    Raises:
        StoreUnavailable: it has none, and was written by something else.
    """
    if not item:
        return ABSENT
    text = item.get(VERSION, {}).get("N", "")
    if not (text.isascii() and text.isdigit()):
        raise StoreUnavailable(
            f"its item has no {VERSION}, and was not written by us; delete it, or name another circuit"
        )
    return int(text)
