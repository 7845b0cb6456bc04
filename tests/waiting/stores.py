"""Provide the stores that the contract is tested against: SQLite, and DynamoDB in memory and as two servers on loopback serve it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config

from proof.timeouts.table import Tables
from recoverable.timeouts import DynamoDbStore
from recoverable_local.timeouts import SqliteStore
from servers.ministack import running_cloud
from servers.moto import moto_server

BUCKET = "bodies"
PAGE = 10
"""Rows of a page: few, so that few tests fill one."""


class OneShard(DynamoDbStore):
    """A store with one shard, whose polls make fewer calls."""

    shards = 1


@cache
def session() -> boto3.Session:
    """Return the session of all clients, since each new one reads its models again."""
    return boto3.Session("local", "local", region_name="eu-west-1")


@dataclass(frozen=True)
class Cloud:
    """A server that has DynamoDB, S3 and SQS.

    Args:
        url: where it listens.
    """

    url: str

    def client(self, service: str) -> Any:
        """Return a new client of a service: a test can add hooks to it without affecting others."""
        once = Config(retries={"total_max_attempts": 1, "mode": "standard"}, proxies={})
        client: Any = session().client(service, endpoint_url=self.url, config=once)  # type: ignore[call-overload]  # by a variable name
        return client

    def store(self, kind: type[DynamoDbStore] = OneShard, *, bucket: str | None = None) -> DynamoDbStore:
        """Return a store in a new table."""
        made = kind(f"timeouts-{uuid4().hex[:12]}", bucket=bucket, client=self.client("dynamodb"), s3=self.client("s3"))
        made.create_table()
        return made

    def bucket(self) -> str:
        """Return the name of a new bucket."""
        name = f"{BUCKET}-{uuid4().hex[:12]}"
        place = {"LocationConstraint": "eu-west-1"}
        self.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=place)
        return name


class Twice:
    """A table whose writes are each made twice, and only the second result is returned.

    Args:
        table: the table.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def put(self, *given: Any) -> Any:
        self._table.put(*given)
        return self._table.put(*given)

    def update(self, *given: Any, **change: Any) -> Any:
        self._table.update(*given, **change)
        return self._table.update(*given, **change)


@contextmanager
def moto(_: Path) -> Iterator[Cloud]:
    """Yield the moto server that the tests of other parts use too."""
    with moto_server() as url:
        yield Cloud(url)


@contextmanager
def ministack(folder: Path) -> Iterator[Cloud]:
    """Yield the small cloud that the template is deployed to."""
    with running_cloud(folder / "ministack.log") as cloud:
        yield Cloud(f"http://127.0.0.1:{cloud.port}")


def in_tables() -> DynamoDbStore:
    """Return a store in a new table in memory, whose answers are compared with moto's."""
    client: Any = Tables()
    return OneShard("timeouts", client=client)


CLOUDS = {"moto": moto, "ministack": ministack}


@contextmanager
def sqlite(path: str | Path = ":memory:") -> Iterator[SqliteStore]:
    """Yield a store in memory, unless a file is given."""
    store = SqliteStore(path, page=PAGE)
    try:
        yield store
    finally:
        store.close()


def items(store: DynamoDbStore, cloud: Cloud) -> list[Any]:
    """Return all items of the table."""
    return list(cloud.client("dynamodb").scan(TableName=store._table.name, ConsistentRead=True)["Items"])
