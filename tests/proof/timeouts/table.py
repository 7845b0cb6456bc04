"""Stand in for a boto3 DynamoDB client with tables in memory, as the store calls it: consistent reads, and writes on conditions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from proof.timeouts.expressions import holds, updated

Place = tuple[str, str]
MOST_READ, MOST_WRITTEN = 100, 25
"""Items of one BatchGetItem, and of one BatchWriteItem (DynamoDB API reference)."""


class Tables:
    """Tables whose keys are `pk` and `sk`.

    Args:
        left_over: how many of a batch of so many are left for the next call.
        scanned: how many items a page of a scan looks at; None for all.
    """

    def __init__(self, left_over: Callable[[int], int] = lambda _: 0, scanned: int | None = None) -> None:
        self.partitions: dict[tuple[str, str], dict[str, Any]] = {}
        self._left_over, self._scanned = left_over, scanned
        self.watch: Callable[[str, Any], object] = lambda _table, _item: None
        """Told of each item that is written, and its table."""

    def items(self, table: str) -> list[Any]:
        """Return all items of a table, in the order of its keys."""
        keys = sorted(key for key in self.partitions if key[0] == table)
        return [item for key in keys for _, item in sorted(self.partitions[key].items())]

    def get_item(self, **request: Any) -> Any:
        """GetItem."""
        found = self._found(request["TableName"], request["Key"])
        return {"Item": found} if found else {}

    def put_item(self, **request: Any) -> Any:
        """PutItem."""
        self._check("PutItem", request, request["Item"])
        before = self._found(request["TableName"], request["Item"])
        self._write(request["TableName"], request["Item"])
        return {"Attributes": before} if before and request.get("ReturnValues") == "ALL_OLD" else {}

    def update_item(self, **request: Any) -> Any:
        """UpdateItem."""
        self._check("UpdateItem", request, request["Key"])
        changed = self._update(request)
        return {"Attributes": changed} if request.get("ReturnValues") == "ALL_NEW" else {}

    def query(self, **request: Any) -> Any:
        """Query of a partition, the keys in their order."""
        values = request["ExpressionAttributeValues"]
        partition = self._partition(request["TableName"], values[":pk"]["S"])
        keys = sorted(partition)
        if ":before" in values:
            keys = keys[: bisect_left(keys, values[":before"]["S"])]
        if "ExclusiveStartKey" in request:
            keys = keys[bisect_right(keys, request["ExclusiveStartKey"]["sk"]["S"]) :]
        return page([partition[key] for key in keys], request, request.get("Limit"))

    def scan(self, **request: Any) -> Any:
        """Scan."""
        items = self.items(request["TableName"])
        if "ExclusiveStartKey" in request:
            items = [item for item in items if place(item) > place(request["ExclusiveStartKey"])]
        return page(items, request, self._scanned)

    def batch_get_item(self, **request: Any) -> Any:
        """BatchGetItem; some items may stay unprocessed."""
        [(table, wanted)] = request["RequestItems"].items()
        now, later = self._parted(wanted["Keys"], MOST_READ, place)
        found = [item for key in now if (item := self._found(table, key))]
        left = {table: {**wanted, "Keys": later}} if later else {}
        return {"Responses": {table: found}, "UnprocessedKeys": left}

    def batch_write_item(self, **request: Any) -> Any:
        """BatchWriteItem; some items may stay unprocessed."""
        [(table, wanted)] = request["RequestItems"].items()
        now, later = self._parted(wanted, MOST_WRITTEN, lambda write: place(written(write)))
        for write in now:
            if "PutRequest" in write:
                self._write(table, written(write))
            else:
                self.delete(table, place(written(write)))
        return {"UnprocessedItems": {table: later} if later else {}}

    def transact_write_items(self, **request: Any) -> Any:
        """TransactWriteItems: all or nothing."""
        actions = [(verb, what) for action in request["TransactItems"] for verb, what in action.items()]
        held = [self._holds(what, what["Key"]) for _, what in actions]
        if not all(held):
            codes = [{"Code": "None" if one else "ConditionalCheckFailed"} for one in held]
            raise refusal("TransactionCanceledException", CancellationReasons=codes)
        for verb, what in actions:
            if verb == "Update":
                self._update(what)
        return {}

    def delete(self, table: str, at: Place) -> None:
        """Delete an item."""
        self._partition(table, at[0]).pop(at[1], None)

    def find(self, table: str, at: Place) -> Any:
        """Return an item; None when it is not there."""
        return self._partition(table, at[0]).get(at[1])

    def _partition(self, table: str, pk: str) -> dict[str, Any]:
        return self.partitions.setdefault((table, pk), {})

    def _found(self, table: str, key: Any) -> Any:
        return self.find(table, place(key))

    def _holds(self, request: Any, key: Any) -> bool:
        item = self._found(request["TableName"], key) or {}
        return holds(request.get("ConditionExpression"), item, request)

    def _check(self, operation: str, request: Any, key: Any) -> None:
        if not self._holds(request, key):
            raise refusal("ConditionalCheckFailedException", operation)

    def _write(self, table: str, item: Any) -> None:
        pk, sk = place(item)
        self._partition(table, pk)[sk] = item
        self.watch(table, item)

    def _update(self, request: Any) -> Any:
        changed = updated(self._found(request["TableName"], request["Key"]) or request["Key"], request)
        self._write(request["TableName"], changed)
        return changed

    def _parted(self, batch: Any, most: int, key: Callable[[Any], Place]) -> tuple[Any, Any]:
        assert 0 < len(batch) <= most
        assert len({key(each) for each in batch}) == len(batch), "the same item twice in a batch"
        done = len(batch) - self._left_over(len(batch))
        return batch[:done], batch[done:]


def page(items: list[Any], request: Any, limit: int | None) -> Any:
    """Return the first items that pass the filter, and where the next page starts."""
    looked = items[:limit]
    answer: Any = {"Items": [item for item in looked if holds(request.get("FilterExpression"), item, request)]}
    if looked and limit == len(looked):
        answer["LastEvaluatedKey"] = {name: looked[-1][name] for name in ("pk", "sk")}
    return answer


def place(key: Any) -> Place:
    """Return the two texts of a key."""
    return key["pk"]["S"], key["sk"]["S"]


def written(write: Any) -> Any:
    """Return the item or key of a write in a batch."""
    return write["PutRequest"]["Item"] if "PutRequest" in write else write["DeleteRequest"]["Key"]


def refusal(code: str, operation: str = "call", **more: Any) -> ClientError:
    """Return an error answer of an AWS service."""
    told: Any = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": 400}, **more}
    return ClientError(told, operation)
