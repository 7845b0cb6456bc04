"""Simulate DynamoDB, S3 and SQS in a schedule: each call can fail, and what SQS got is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from proof.timeouts.history import History, Sending
from proof.timeouts.stage import Failure, Stage
from proof.timeouts.table import Tables, refusal
from recoverable.timeouts import DynamoDbStore, StoreUnavailable
from recoverable_local.timeouts import SqliteStore
from waiting.stores import OneShard

URL = "http://127.0.0.1:1/123456789012/"
QUEUES = ("orders", "orders", "flaky", "gone", "bank.fifo")
SMALL_PAGES = (1, 2, 100)
BUCKET = "bodies"

NO_ANSWER: Failure = ConnectionError
READS = ("get_item", "query", "scan", "batch_get_item", "get_object")


class Client:
    """A boto3 client whose calls can fail.

    Args:
        real: what does them.
        stage: the stage.
    """

    def __init__(self, real: object, stage: Stage) -> None:
        self._real, self._stage = real, stage

    def __getattr__(self, name: str) -> Callable[..., Any]:
        do, failures = getattr(self._real, name), failures_of(name, self._stage)
        return lambda **request: self._stage.call(name, lambda: do(**request), failures)


def failures_of(name: str, stage: Stage) -> Mapping[str, Failure]:
    """Return how a call can fail; a transaction that boto3 makes twice has a token, and is done once."""
    reasons = refusals(name)

    def refused_somehow() -> Exception:
        return stage.chance.choice(reasons)()

    refused: Mapping[str, Failure] = {"refused": refused_somehow}
    if name in READS:
        return refused
    lost = {**refused, "answer lost": NO_ANSWER}
    return lost if name == "transact_write_items" else {**lost, "made twice": NO_ANSWER}


def refusals(name: str) -> tuple[Failure, ...]:
    """Return how a call can be refused: it does not get through, it is throttled, or it meets a transaction."""
    met = {"Code": "TransactionConflict"}
    conflict: dict[str, Failure] = {
        "put_item": lambda: refusal("TransactionConflictException"),
        "update_item": lambda: refusal("TransactionConflictException"),
        "transact_write_items": lambda: refusal("TransactionCanceledException", CancellationReasons=[met]),
    }
    return (NO_ANSWER, lambda: refusal("ThrottlingException"), *([conflict[name]] if name in conflict else []))


class Bucket:
    """S3, as the store calls it."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def put_object(self, **request: Any) -> None:
        """PutObject."""
        self.objects[request["Key"]] = request["Body"]

    def get_object(self, **request: Any) -> Any:
        """GetObject."""
        if request["Key"] not in self.objects:
            raise refusal("NoSuchKey")
        found = self.objects[request["Key"]]
        return {"Body": SimpleNamespace(read=lambda: found)}

    def delete_object(self, **request: Any) -> None:
        """DeleteObject."""
        self.objects.pop(request["Key"], None)


class Sqs:
    """An SQS with a queue that is gone, and one that often does not answer, until all is calm."""

    def __init__(self, stage: Stage, history: History, skews: Mapping[str, float]) -> None:
        self.meta = SimpleNamespace(endpoint_url=URL)
        self._stage, self._history, self._skews = stage, history, skews

    def send_message_batch(self, *, QueueUrl: str, Entries: list[Any]) -> Any:  # noqa: N803  # as boto3 has it
        """SendMessageBatch."""
        failures = {"refused": NO_ANSWER, "answer lost": NO_ANSWER, "made twice": NO_ANSWER}
        return self._stage.call("send_message_batch", lambda: self._sent(QueueUrl, Entries), failures)

    def _sent(self, url: str, entries: list[Any]) -> Any:
        if not self._stage.calm and url.endswith("gone"):
            raise refusal("AWS.SimpleQueueService.NonExistentQueue")
        if not self._stage.calm and url.endswith("flaky") and self._stage.chance.random() < 0.5:
            raise ConnectionError
        who, now = self._stage.playing.name, self._stage.now
        for entry in entries:
            number = int(entry["MessageBody"].partition(" ")[0])
            sending = Sending(self._stage.tick(), now, entry.get("DelaySeconds", 0), who, self._skews.get(who, 0))
            self._history.sent[number].append(sending)
            self._stage.note(f"sent message {number}")
        return {"Successful": [{"Id": entry["Id"]} for entry in entries]}


class Stepping:
    """A store of SQLite whose verbs are calls on the stage; what is not done there is not done, and no answer is lost.

    Args:
        store: the store.
        stage: the stage.
    """

    FAILURES: Mapping[str, Failure] = {"refused": lambda: StoreUnavailable("SQLite: it is locked")}

    def __init__(self, store: SqliteStore, stage: Stage) -> None:
        self._store, self._stage, self.shards = store, stage, store.shards

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(self._store, name)
        paged = name in ("due", "scan")

        def called(*given: Any, **named: Any) -> Any:
            if paged:
                return self._pages(name, verb(*given, **named))
            return self._stage.call(name, lambda: verb(*given, **named), self.FAILURES)

        return called

    def _pages(self, name: str, pages: Any) -> Any:
        while (page := self._stage.call(name, lambda: next(pages, None), self.FAILURES)) is not None:
            yield page


class Stores:
    """The stores of a schedule, each by its table's name.

    Args:
        stage: the stage.
        kind: "dynamodb" or "sqlite".
        tables: DynamoDB's; None for new ones.
    """

    def __init__(self, stage: Stage, kind: str, tables: Tables | None) -> None:
        self._stage, self._kind = stage, kind
        self._half = stage.chance.choice((0.0, 0.0, 0.1))
        self.tables, self.bucket = tables or Tables(self._left_over, scanned=3), Bucket()
        self._client, self._s3 = Client(self.tables, stage), Client(self.bucket, stage)
        self._files: dict[str, SqliteStore] = {}

    def open(self, table: str) -> Any:
        """Return a store, as a process opens it."""
        page = self._stage.chance.choice(SMALL_PAGES)
        if self._kind == "sqlite":
            made = self._files.get(table) or self._files.setdefault(table, SqliteStore(page=page))
            return Stepping(made, self._stage)
        client: Any = self._client
        s3: Any = self._s3
        store: DynamoDbStore = OneShard(table, bucket=BUCKET, client=client, s3=s3, page=page)
        store._table._sleep = lambda _: self._stage.sleep(0.1)  # not what it draws itself
        return store

    def expire(self) -> None:
        """Delete what DynamoDB's time to live takes, some of it later."""
        for (table, pk), partition in self.tables.partitions.items():
            for sk in [sk for sk, item in partition.items() if expired(item, self._stage.now.timestamp())]:
                if self._stage.chance.random() < 0.7:
                    self.tables.delete(table, (pk, sk))

    def close(self) -> None:
        """Close the files."""
        for store in self._files.values():
            store.close()

    def _left_over(self, number: int) -> int:
        if self._stage.calm or self._stage.chance.random() >= self._half:
            return 0
        return self._stage.chance.randint(0, number)


def expired(item: Any, now: float) -> bool:
    """True if the time to live may take it."""
    return "expires" in item and int(item["expires"]["N"]) <= now
