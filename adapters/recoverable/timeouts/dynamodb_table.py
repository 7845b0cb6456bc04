"""A DynamoDB table by the few calls that the store makes: consistent reads, conditional writes, and its errors as the port's."""

from __future__ import annotations

import os
import time

from .store import StoreUnavailable

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from mypy_boto3_dynamodb import DynamoDBClient

    from .dynamodb_items import Item, Key

BATCH = 25
"""Items of one BatchWriteItem (DynamoDB API reference)."""

TRIES = 6
"""How often what DynamoDB has left of a batch is sent again, after 0.05 s, 0.1 s and so on: 1.6 s in all."""

PAUSE = 0.02
"""Seconds of the longest first pause between writers of one item: a conditional write of DynamoDB takes about 0.01 s."""

CONFLICTS = 5
"""How often a transaction is tried that met another."""


class Table:
    """A table whose keys are `pk` and `sk`.

    Args:
        client: gives a boto3 DynamoDB client.
        name: the table's name or ARN.
        sleep: lets seconds pass.
    """

    __slots__ = ("_client", "_sleep", "name")

    def __init__(
        self,
        client: Callable[[], DynamoDBClient],
        name: str,
        *,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._client, self._sleep, self.name = client, sleep, name

    def create(self) -> None:
        """Make the table, billed on demand, and have `expires` taken for its time to live."""
        keys: dict[str, Any] = {"pk": "HASH", "sk": "RANGE"}
        self._call(
            "create_table",
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        self._client().get_waiter("table_exists").wait(TableName=self.name, WaiterConfig={"Delay": 1})
        lived = {"Enabled": True, "AttributeName": "expires"}
        self._call("update_time_to_live", TimeToLiveSpecification=lived)

    def get(self, key: Key) -> Item | None:
        """The item, read consistently."""
        answer = self._call("get_item", Key=key, ConsistentRead=True)
        found: Item | None = answer.get("Item")
        return found

    def put(self, item: Item, condition: str, values: Mapping[str, Any] | None = None) -> bool:
        """Write an item if the condition holds; whether it did.

        Raises:
            StoreUnavailable: it is not known to be written.
        """
        more: dict[str, Any] = {"ExpressionAttributeValues": values} if values else {}
        try:
            self._call("put_item", Item=item, ConditionExpression=condition, **more)
        except ConditionFailed:
            return False
        return True

    def update(self, key: Key, **change: Any) -> bool:
        """Change an item if the condition holds; whether it did."""
        try:
            self._call("update_item", Key=key, **change)
        except ConditionFailed:
            return False
        return True

    def query(self, pk: str, *, before: str | None = None, page: int) -> Iterator[list[Item]]:
        """The items of a partition that are not done with, page by page, read consistently when asked for.

        Args:
            pk: the partition.
            before: only those whose sort key sorts before.
            page: items that are looked at for a page.
        """
        condition, values = "pk = :pk", {":pk": {"S": pk}}
        if before is not None:
            condition, values = "pk = :pk AND sk < :before", values | {":before": {"S": before}}
        yield from self._pages(
            "query",
            KeyConditionExpression=condition,
            FilterExpression="attribute_not_exists(expires)",
            ExpressionAttributeValues=values,
            ConsistentRead=True,
            Limit=page,
        )

    def is_empty(self, pk: str) -> bool:
        """Whether all of a partition is done with."""
        values = {":pk": {"S": pk}}
        condition, waiting = "pk = :pk", "attribute_not_exists(expires)"
        request = {"KeyConditionExpression": condition, "FilterExpression": waiting, "ConsistentRead": True}
        return not any(self._pages("query", ExpressionAttributeValues=values, **request))

    def scan(
        self, condition: str, values: Mapping[str, Any], names: Mapping[str, str]
    ) -> Iterator[list[Item]]:
        """The items of the table that fit the condition, page by page."""
        more = {"ExpressionAttributeNames": names} if names else {}
        request = {"FilterExpression": condition, "ExpressionAttributeValues": values, "ConsistentRead": True}
        yield from self._pages("scan", **request, **more)

    def write(self, items: Sequence[Item]) -> None:
        """Write items, whatever was there."""
        self._batches([{"PutRequest": {"Item": item}} for item in items])

    def delete(self, keys: Sequence[Key]) -> None:
        """Delete items."""
        self._batches([{"DeleteRequest": {"Key": key}} for key in keys])

    def transact(self, actions: Sequence[Mapping[str, Any]]) -> list[str]:
        """Do all or nothing: for each action the reason why nothing was done, "None" where it was none; empty when all is done."""
        named = [
            {verb: {"TableName": self.name, **what} for verb, what in action.items()} for action in actions
        ]
        for _ in range(CONFLICTS):
            reasons = self._transacted(named)
            if "TransactionConflict" not in reasons:
                return reasons
            self._sleep(0.05)
        raise StoreUnavailable("DynamoDB: the transaction met others again and again")

    def pause(self, tried: int) -> None:
        """Let others go first who write the same, at random: at first up to 0.02 s, then up to twice as long each time, and 0.64 s at most."""
        self._sleep(PAUSE * 2 ** min(tried, 5) * os.urandom(1)[0] / 255)

    def _transacted(self, actions: Any) -> list[str]:
        try:
            self._client().transact_write_items(TransactItems=actions)
        except Exception as error:
            reasons = getattr(error, "response", {}).get("CancellationReasons")
            if reasons is None:
                raise unavailable(error) from error
            return [reason.get("Code") or "None" for reason in reasons]
        return []

    def _batches(self, requests: list[Any]) -> None:
        for start in range(0, len(requests), BATCH):
            self._batch(requests[start : start + BATCH])

    def _batch(self, requests: list[Any]) -> None:
        for tried in range(TRIES):
            answer = self._call("batch_write_item", table=False, RequestItems={self.name: requests})
            left = answer.get("UnprocessedItems") or {}
            if not left:
                return
            requests = next(iter(left.values()))
            self._sleep(0.05 * 2**tried)
        raise StoreUnavailable(
            f"DynamoDB: {len(requests)} items were not written, for there is too much to do"
        )

    def _pages(self, operation: str, **request: Any) -> Iterator[list[Item]]:
        while True:
            answer = self._call(operation, **request)
            if answer.get("Items"):
                yield answer["Items"]
            if not answer.get("LastEvaluatedKey"):
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _call(self, operation: str, *, table: bool = True, **request: Any) -> Any:
        named = {"TableName": self.name} if table else {}
        try:
            return getattr(self._client(), operation)(**named, **request)
        except Exception as error:
            if code_of(error) == "ConditionalCheckFailedException":
                raise ConditionFailed from None
            raise unavailable(error) from error


class ConditionFailed(Exception):
    """The condition of a write does not hold."""


def code_of(error: Exception) -> str:
    """The error's code, if DynamoDB itself gave one."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def unavailable(error: Exception, service: str = "DynamoDB") -> StoreUnavailable:
    """The error as the port's; of others than DynamoDB's own only the type is told, for some quote what was sent."""
    if isinstance(error, ModuleNotFoundError):
        return StoreUnavailable(
            f"{error}; Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'"
        )
    return StoreUnavailable(f"{service}: {error if code_of(error) else type(error).__name__}")
