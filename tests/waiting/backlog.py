"""Write a backlog of any size in bulk, and count what SQS gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from threading import Lock
from types import SimpleNamespace
from typing import Any

from builders import seconds
from recoverable.timeouts import DynamoDbStore, Timeout
from recoverable.timeouts._dynamodb_items import to_item
from recoverable.timeouts._timeout import new_id
from recoverable_local.timeouts import SqliteStore

URL = "http://127.0.0.1:1/123456789012/orders"
BODY = "x" * 1_000
PER_SECOND = 100


class CountingSqs:
    """An SQS that takes all that is sent, and counts how often each timeout arrived."""

    def __init__(self) -> None:
        self.meta = SimpleNamespace(endpoint_url="http://127.0.0.1:1")
        self.came: Counter[str] = Counter()
        self._lock = Lock()

    def send_message_batch(self, *, QueueUrl: str, Entries: list[Any]) -> Any:  # noqa: N803  # as boto3 has it
        with self._lock:
            self.came.update(entry["MessageBody"].partition(" ")[0] for entry in Entries)
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}


def backlog(number: int, until: datetime, shards: int) -> Iterable[Timeout]:
    """Yield so many timeouts of 1 KB, a hundred a second, the last of them due then; each body begins with its id."""
    for n in range(number):
        timeout_id = new_id(until - seconds(n // PER_SECOND), f"{n:032x}", shards)
        yield Timeout(timeout_id, URL, f"{timeout_id} {BODY}", endpoint="shop")


def fill(store: DynamoDbStore | SqliteStore, number: int, until: datetime) -> None:
    """Write a backlog to a store: to DynamoDB the first of each shard as usual, the others twenty-five at a time."""
    waiting = sorted(backlog(number, until, store.shards), key=lambda timeout: timeout.id)
    if isinstance(store, SqliteStore):
        store._database.execute("PRAGMA synchronous = OFF")  # until it is closed
        for timeout in waiting:
            store.put(timeout, now=until)
        return
    first = {timeout.id.split("-")[1]: timeout for timeout in reversed(waiting)}
    for timeout in first.values():
        store.put(timeout, now=until)
    store._table.write([to_item(timeout) for timeout in waiting if timeout not in first.values()])
