"""Define the few operations on a DynamoDB table that the store needs: consistent reads, and writes on conditions."""

from __future__ import annotations

from recoverable.timeouts._stores.dynamodb.calls import Calls
from recoverable.timeouts._stores.dynamodb.errors import ConditionFailed

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from mypy_boto3_dynamodb import DynamoDBClient

    from recoverable.timeouts._stores.dynamodb.keys import Item, Key

BATCH = 25
"""Items of one BatchWriteItem (DynamoDB API reference); as many are read at once, 10 MB at most of the 16 MB of one BatchGetItem."""


class Table:
    """A table whose keys are `pk` and `sk`.

    Args:
        client: gives a boto3 DynamoDB client.
        name: the table's name or ARN.
    """

    __slots__ = ("_calls", "name")

    def __init__(self, client: Callable[[], DynamoDBClient], name: str) -> None:
        self._calls, self.name = Calls(client, name), name

    def create(self) -> None:
        """Create the table, billed on demand, with `expires` as its time to live."""
        keys: dict[str, Any] = {"pk": "HASH", "sk": "RANGE"}
        self._calls.call(
            "create_table",
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        waiter = self._calls.client().get_waiter("table_exists")
        waiter.wait(TableName=self.name, WaiterConfig={"Delay": 1})
        lived = {"Enabled": True, "AttributeName": "expires"}
        self._calls.call("update_time_to_live", TimeToLiveSpecification=lived)

    def get(self, key: Key) -> Item | None:
        """Return the item; None when there is none."""
        found: Item | None = self._calls.call("get_item", Key=key, ConsistentRead=True).get("Item")
        return found

    def get_all(self, keys: Sequence[Key]) -> Iterator[Item]:
        """Yield the items of these keys that exist, in no order."""
        wanted = {"Keys": list(keys), "ConsistentRead": True}
        for answer in self._calls.batch("batch_get_item", wanted, "UnprocessedKeys") if keys else ():
            for items in answer["Responses"].values():
                yield from items

    def put(self, item: Item, condition: str | None = None, values: Mapping[str, Any] | None = None) -> bool:
        """Write an item if the condition holds. True if it did."""
        more: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
        more |= {"ExpressionAttributeValues": values} if values else {}
        try:
            self._calls.call_retrying_conflicts("put_item", Item=item, **more)
        except ConditionFailed:
            return False
        return True

    def replace(self, item: Item, condition: str, values: Mapping[str, Any]) -> Item | None:
        """Write an item if the condition holds. Return what was there before, which is nothing where it is new; None when it did not hold."""
        request = {"ConditionExpression": condition, "ExpressionAttributeValues": values, "ReturnValues": "ALL_OLD"}
        try:
            before: Item = self._calls.call_retrying_conflicts("put_item", Item=item, **request).get("Attributes", {})
        except ConditionFailed:
            return None
        return before

    def update(self, key: Key, **change: Any) -> Item | None:
        """Change an item if the condition holds. Return the new attributes, as far as they are asked for, or None when it did not hold."""
        try:
            answer = self._calls.call_retrying_conflicts("update_item", Key=key, **change)
        except ConditionFailed:
            return None
        changed: Item = answer.get("Attributes", {})
        return changed

    def transact(self, actions: Sequence[Mapping[str, Any]]) -> bool:
        """Do all actions or none. True if all conditions held."""
        return self._calls.transact(
            [{verb: {"TableName": self.name, **what} for verb, what in each.items()} for each in actions]
        )

    def query(self, pk: str, where: str, *, before: str | None = None, page: int) -> Iterator[list[Item]]:
        """Yield the items of a partition, page by page, each page read when it is needed.

        Args:
            pk: the partition.
            where: the filter on the items.
            before: only items whose sort key sorts before this; None for all.
            page: the number of items that DynamoDB examines for a page.
        """
        condition, values = "pk = :pk", {":pk": {"S": pk}}
        if before is not None:
            condition, values = "pk = :pk AND sk < :before", values | {":before": {"S": before}}
        yield from self._calls.pages(
            "query",
            KeyConditionExpression=condition,
            FilterExpression=where,
            ExpressionAttributeValues=values,
            ConsistentRead=True,
            Limit=page,
        )

    def has(self, pk: str, where: str) -> bool:
        """True if the partition has an item that fits the filter."""
        request = {"KeyConditionExpression": "pk = :pk", "FilterExpression": where, "ConsistentRead": True}
        return any(self._calls.pages("query", ExpressionAttributeValues={":pk": {"S": pk}}, **request))

    def scan(self, condition: str, values: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[list[Item]]:
        """Yield the items of the table that fit the condition, page by page."""
        more = {"ExpressionAttributeNames": names} if names else {}
        request = {"FilterExpression": condition, "ExpressionAttributeValues": values, "ConsistentRead": True}
        yield from self._calls.pages("scan", **request, **more)

    def write(self, items: Sequence[Item]) -> None:
        """Write items over what was there."""
        self._batches([{"PutRequest": {"Item": item}} for item in items])

    def delete(self, keys: Sequence[Key]) -> None:
        """Delete items."""
        self._batches([{"DeleteRequest": {"Key": key}} for key in keys])

    def _batches(self, requests: list[Any]) -> None:
        for start in range(0, len(requests), BATCH):
            wanted = requests[start : start + BATCH]
            for _ in self._calls.batch("batch_write_item", wanted, "UnprocessedItems"):
                pass
