"""Provide the DynamoDB servers that the circuit is tested on, each with a table for circuits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from builders import seconds
from recoverable.circuits import DynamoDbCircuit
from servers.ministack import running_cloud
from servers.moto import session

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SERVERS = ["moto", pytest.param("ministack", marks=[pytest.mark.slow, pytest.mark.xdist_group("ministack")])]


@dataclass(frozen=True)
class Account:
    """An account of a local cloud.

    Args:
        url: where the cloud listens.
    """

    url: str

    def client(self, service: str) -> Any:
        """Return a client of a service."""
        return client(service, self.url)

    def table(self, name: str) -> str:
        """Create a table for circuits, if there is none yet."""
        dynamodb: DynamoDBClient = self.client("dynamodb")
        if name not in dynamodb.list_tables()["TableNames"]:
            dynamodb.create_table(
                TableName=name,
                KeySchema=[{"AttributeName": "circuit", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "circuit", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        return name

    def circuit(self, name: str, **settings: Any) -> DynamoDbCircuit:
        """Return a circuit in its table, with a long time-out for a machine that others use too."""
        settings = {"client": self.client("dynamodb"), "timeout": seconds(5), **settings}
        return DynamoDbCircuit(self.table("circuits"), name, **settings)


@cache
def client(service: str, url: str) -> Any:
    """Return one client of each service, for each reads long models."""
    made: Any = session()
    return made.client(service, endpoint_url=url)


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the URL of a small cloud."""
    with running_cloud(tmp_path_factory.mktemp("ministack") / "log") as cloud:
        yield f"http://127.0.0.1:{cloud.port}"


@pytest.fixture(params=SERVERS)
def account(request: pytest.FixtureRequest) -> Account:
    """Yield one cloud after the other."""
    return Account(request.getfixturevalue(request.param))
