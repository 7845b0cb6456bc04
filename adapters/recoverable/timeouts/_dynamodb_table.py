"""Call DynamoDB and S3 for the store: consistent reads, writes on conditions, the repetitions that DynamoDB asks for, and errors as the port's."""

from __future__ import annotations

import os
import time

from recoverable._errors import StoreUnavailable
from recoverable._sqs.answers import CONDITION_FAILED, code_of, is_answer, object_problem, unavailable
from recoverable.timeouts._timeout import Unreadable

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from recoverable._sqs.answers import ObjectProblem
    from recoverable.timeouts._dynamodb_items import Item, Key

BATCH = 25
"""Items of one BatchWriteItem (DynamoDB API reference); as many are read at once, 10 MB at most of the 16 MB of one BatchGetItem."""

TRIES = 6
"""How often the unprocessed part of a batch is requested again, after 0.05 s, 0.1 s and so on: 1.6 s in all."""

CONFLICT = "TransactionConflictException"
"""The code of a write that conflicts with a transaction."""

NOT_MET = {CONDITION_FAILED, "ConditionalCheckFailed"}
"""The code of a write whose condition does not hold, and the reason of a transaction that has such a one."""

CONFLICTS = 10
"""How often a write that conflicts with a transaction, or a transaction that conflicts with another, is tried: 2 s or so in all."""

PAUSE = 0.02
"""Seconds of the longest first pause before such a repetition: a transaction takes about as long."""

PREFIX = "timeouts/"
TOKEN_BYTES = 8

PROBLEMS: Mapping[ObjectProblem, str] = {
    "denied": "S3 denies access to its message, or it is gone and the right s3:ListBucket is missing",
    "archived": "its message is in an archive of S3",
    "no bucket": "the bucket of its message is gone",
    "gone": "its message is gone from S3",
}


class Table:
    """A table whose keys are `pk` and `sk`. Each method raises `StoreUnavailable` when it could not be done, or when its result is not known.

    Args:
        client: gives a boto3 DynamoDB client.
        name: the table's name or ARN.
        sleep: waits for so many seconds.
    """

    def __init__(
        self, client: Callable[[], DynamoDBClient], name: str, *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._client, self.name, self._sleep = client, name, sleep

    def create(self) -> None:
        """Create the table, billed on demand, with `expires` as its time to live."""
        keys = {"pk": "HASH", "sk": "RANGE"}
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
        """Return the item; None when there is none."""
        found = self._call("get_item", Key=to_attributes(key), ConsistentRead=True).get("Item")
        return None if found is None else from_attributes(found)

    def get_all(self, keys: Sequence[Key]) -> list[Item]:
        """Return the items of these keys that exist, in no order."""
        wanted = {"Keys": list(map(to_attributes, keys)), "ConsistentRead": True}
        answers = self._batch("batch_get_item", wanted, "UnprocessedKeys") if keys else []
        return [from_attributes(item) for answer in answers for items in answer["Responses"].values() for item in items]

    def put(self, item: Item, condition: str | None = None, values: Item | None = None) -> Item | None:
        """Write an item if the condition holds. Return what was there before, which is nothing where it is new; None when it did not hold."""
        request = {"Item": to_attributes(item), "ReturnValues": "ALL_OLD", **conditional(condition, values)}
        return self._write_if("put_item", TableName=self.name, **request)

    def update(
        self, key: Key, change: str, condition: str | None = None, values: Item | None = None, **more: Any
    ) -> Item | None:
        """Change an item if the condition holds. Return the new attributes, as far as they are asked for, or None when it did not hold."""
        return self._write_if("update_item", TableName=self.name, **update_of(key, change, condition, values), **more)

    def update_while(self, checked: Key, condition: str, values: Item, update: Mapping[str, Any]) -> bool:
        """Change an item, as `update_of` says, while a condition on another one holds. True if the conditions on both held."""
        check = {"Key": to_attributes(checked), **conditional(condition, values)}
        named = {"ConditionCheck": check, "Update": update}
        actions = [{verb: {"TableName": self.name, **what}} for verb, what in named.items()]
        return self._write_if("transact_write_items", TransactItems=actions) is not None

    def query(self, pk: str, where: str, *, before: str | None = None, page: int | None = None) -> Iterator[list[Item]]:
        """Yield the items of a partition, page by page, each page read when it is needed.

        Args:
            pk: the partition.
            where: the filter on the items.
            before: only items whose sort key sorts before this; None for all.
            page: the number of items that DynamoDB examines for a page; None for 1 MB of them.
        """
        condition, values = "pk = :pk", {":pk": pk}
        if before is not None:
            condition, values = "pk = :pk AND sk < :before", values | {":before": before}
        limit = {} if page is None else {"Limit": page}
        return self._pages("query", where, values, KeyConditionExpression=condition, **limit)

    def scan(self, where: str, values: Item, names: Mapping[str, str]) -> Iterator[list[Item]]:
        """Yield the items of the table that pass the filter, page by page."""
        return self._pages("scan", where, values, **({"ExpressionAttributeNames": names} if names else {}))

    def write(self, items: Sequence[Item]) -> None:
        """Write items over what was there."""
        self._write_all([{"PutRequest": {"Item": to_attributes(item)}} for item in items])

    def delete(self, keys: Sequence[Key]) -> None:
        """Delete items."""
        self._write_all([{"DeleteRequest": {"Key": to_attributes(key)}} for key in keys])

    def _write_all(self, requests: list[Any]) -> None:
        for start in range(0, len(requests), BATCH):
            self._batch("batch_write_item", requests[start : start + BATCH], "UnprocessedItems")

    def _call(self, operation: str, **request: Any) -> Any:
        return call_client(self._client, "DynamoDB", operation, TableName=self.name, **request)

    def _write_if(self, operation: str, **request: Any) -> Item | None:
        """Write, again while that conflicts with a transaction. Return the attributes that were asked for; None when a condition does not hold."""
        for tried in range(CONFLICTS):
            try:
                answer = call_client(self._client, "DynamoDB", operation, **request)
                return from_attributes(answer.get("Attributes", {}))
            except StoreUnavailable as error:
                reasons = refusals(error.__cause__)
                if not reasons:
                    raise
                if reasons <= NOT_MET:
                    return None
            self._pause(tried)
        raise StoreUnavailable(f"DynamoDB: a write was cancelled again and again: {', '.join(sorted(reasons))}")

    def _pages(self, operation: str, where: str, values: Item, **request: Any) -> Iterator[list[Item]]:
        """Yield the items of a query or scan that pass a filter, page by page; each page is requested when it is needed."""
        filtered = {"FilterExpression": where, "ExpressionAttributeValues": to_attributes(values)}
        while True:
            answer = self._call(operation, ConsistentRead=True, **filtered, **request)
            if answer.get("Items"):
                yield [from_attributes(item) for item in answer["Items"]]
            if not answer.get("LastEvaluatedKey"):
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _batch(self, operation: str, wanted: Any, unprocessed: str) -> list[Any]:
        """Return the answers to a batch, which is called again while some of it is unprocessed.

        Args:
            operation: the client's method.
            wanted: the request for the table.
            unprocessed: the field of an answer that holds what was not done.
        """
        answers = []
        for tried in range(TRIES):
            answers.append(call_client(self._client, "DynamoDB", operation, RequestItems={self.name: wanted}))
            if not answers[-1].get(unprocessed):
                return answers
            [wanted] = answers[-1][unprocessed].values()
            self._sleep(0.05 * 2**tried)
        raise StoreUnavailable("DynamoDB: a part of a batch was not processed, because there is too much to do")

    def _pause(self, tried: int) -> None:
        """Let others go first: sleep for a random time, at first up to 0.02 s, then up to twice as long each time, at most 0.64 s."""
        self._sleep(PAUSE * 2 ** min(tried, 5) * os.urandom(1)[0] / 255)


def call_client(client: Callable[[], Any], service: str, operation: str, **request: Any) -> Any:
    """Make a call, and raise what it raises as the port's error."""
    try:
        return getattr(client(), operation)(**request)
    except Exception as error:
        raise unavailable(error, service) from error


def refusals(error: BaseException | None) -> set[str]:
    """Return why a write was not made whose condition does not hold, or which may be tried again; nothing for another error."""
    answer: Any = getattr(error, "response", None) if is_answer(error) else {}
    given = answer.get("CancellationReasons") or ()
    reasons = {reason.get("Code") or "None" for reason in given} - {"None"}
    return reasons or {code_of(error)} & {CONDITION_FAILED, CONFLICT}


def conditional(condition: str | None, values: Item | None) -> dict[str, Any]:
    """Return a condition and the values of a change, as far as there are any, as a request takes them."""
    request: dict[str, Any] = {"ConditionExpression": condition} if condition else {}
    return request | ({"ExpressionAttributeValues": to_attributes(values)} if values else {})


def update_of(key: Key, change: str, condition: str | None, values: Item | None) -> dict[str, Any]:
    """Return the change of an item as a request takes it."""
    return {"Key": to_attributes(key), "UpdateExpression": change, **conditional(condition, values)}


def to_attributes(item: Item) -> dict[str, Any]:
    """Return an item as DynamoDB takes it: texts and whole numbers, and what is of another type as DynamoDB returned it."""
    return {name: typed(value) for name, value in item.items()}


def typed(value: Any) -> Any:
    """Return a text, also one of an enumeration, or a whole number as DynamoDB takes it; what is of another type as it is."""
    match value:
        case str():
            return {"S": value}
        case int():
            return {"N": str(value)}
        case _:
            return value


def from_attributes(attributes: Mapping[str, Any]) -> Item:
    """Return what DynamoDB returned as an item, as `to_attributes` takes it."""
    return {name: plain(value) for name, value in attributes.items()}


def plain(value: Any) -> Any:
    """Return a text or a whole number as it is, and a value of another type as DynamoDB returned it."""
    match value:
        case {"S": text}:
            return text
        case {"N": digits} if digits.removeprefix("-").isdigit():
            return int(digits)
        case _:
            return value


class Bodies:
    """The messages in a bucket: those that are too large for a row.

    Args:
        bucket: its name; None when there is none.
        client: gives a boto3 S3 client.
    """

    def __init__(self, bucket: str | None, client: Callable[[], S3Client]) -> None:
        self.bucket, self._client = bucket, client

    def put(self, timeout_id: str, message: str) -> str:
        """Write a message and return its key. Each write has its own key: a timeout may be in two tables, and be stored again while its message is deleted."""
        key = f"{PREFIX}{timeout_id}-{os.urandom(TOKEN_BYTES).hex()}"
        call_client(self._client, "S3", "put_object", Bucket=self.bucket or "", Key=key, Body=message.encode())
        return key

    def read_message(self, item: Item) -> str | Unreadable:
        """Return the message of an item, from the item or from S3; or why it cannot be read."""
        if "s3" not in item:
            message = item.get("message")
            return message if isinstance(message, str) else Unreadable("it has no message")
        if self.bucket is None:
            return Unreadable("its message is in S3, and this store was given no bucket")
        if not (key := item["s3"]) or not isinstance(key, str):
            return Unreadable("it does not say where in S3 its message is")
        try:
            return self._client().get_object(Bucket=self.bucket, Key=key)["Body"].read().decode()
        except UnicodeDecodeError:
            return Unreadable(f"its message in S3, '{key}', is no text")
        except Exception as error:
            if (why := problem_with_object(error)) is not None:
                return Unreadable(f"{why}, where it was '{key}'")
            raise unavailable(error, "S3") from error

    def delete(self, keys: Sequence[str]) -> None:
        """Delete messages."""
        for key in keys:
            call_client(self._client, "S3", "delete_object", Bucket=self.bucket or "", Key=key)


def problem_with_object(error: Exception) -> str | None:
    """Return why an object cannot be read, however often it is asked for; None for an error that another call may not have.

    So one object that cannot be read for good does not hold back the timeouts behind it.
    """
    problem = object_problem(error)
    return None if problem is None else PROBLEMS.get(problem, f"S3 does not give its message ({code_of(error)})")


def aws_client(service: str, timeout: float) -> Any:
    """Return the process's client, made when it is first needed. It makes a call twice at most: each has the same effect twice as once.

    Args:
        service: "dynamodb" or "s3".
        timeout: seconds for one call.
    """
    from recoverable._sqs.clients import client  # made when it is first needed

    return client(service, None, timeout, 2)
