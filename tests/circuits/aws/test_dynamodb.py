"""The circuit in DynamoDB: the contract of all stores, and what it does when DynamoDB cannot be asked."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from threading import Event
from typing import Any
from uuid import uuid4

import pytest

from builders import NOW, Boom, Clock, seconds
from circuits.aws.conftest import Account
from rate_limit.circuit_contract import LIMITED, CircuitContract, NewStore
from rate_limit.rate_limited import Instance
from recoverable import RateLimit, StoreUnavailable
from recoverable._rate_limit.state import CLOSED, Open, Snapshot
from recoverable._sqs.clients import client as process_client
from recoverable.circuits import DynamoDbCircuit
from servers.moto import CREDENTIALS, REGION


class TestDynamoDbCircuit(CircuitContract):
    """On each server."""

    @pytest.fixture
    def new_store(self, account: Account) -> NewStore:
        """Stores of one new circuit."""
        name = f"orders-{uuid4().hex}"
        return lambda: account.circuit(name)


def test_circuits_of_different_names_are_different(account: Account) -> None:
    orders, bills = account.circuit(f"orders-{uuid4().hex}"), account.circuit(f"bills-{uuid4().hex}")
    orders.compare_and_set(orders.read(), LIMITED)

    assert bills.read().circuit == CLOSED


def test_an_item_says_what_it_is_to_whoever_looks_at_the_table(account: Account) -> None:
    store = account.circuit(f"orders-{uuid4().hex}")
    store.compare_and_set(store.read(), Open(NOW, NOW + seconds(1)), "a switch")
    key: Any = {"circuit": {"S": store.name}}

    assert account.client("dynamodb").get_item(TableName="circuits", Key=key)["Item"] == {
        "circuit": {"S": store.name},
        "limited_since": {"S": "2026-03-14 15:09:26:535897 Z"},
        "next_attempt_at": {"S": "2026-03-14 15:09:27:535897 Z"},
        "switch": {"S": "a switch"},
        "version": {"N": "1"},
    }


STRANGE: list[dict[str, Any]] = [
    {"limited_since": {"S": "yesterday"}, "next_attempt_at": {"S": "2026-03-14 15:09:27:535897 Z"}},
    {"limited_since": {"S": "2026-03-14 15:09:27:535897 Z"}},
    {"limited_since": {"N": "1"}, "next_attempt_at": {"BOOL": True}},
]


@pytest.mark.parametrize("attributes", STRANGE)
def test_a_circuit_that_cannot_be_read_limits_nobody(account: Account, attributes: dict[str, Any]) -> None:
    store = account.circuit(f"orders-{uuid4().hex}")
    item = {"circuit": {"S": store.name}, "version": {"N": "4"}, **attributes}
    account.client("dynamodb").put_item(TableName=store.table, Item=item)
    seen = store.read()

    assert (seen.circuit, seen.version) == (CLOSED, 4)


def test_an_item_that_is_not_ours_is_left_alone(account: Account) -> None:
    store = account.circuit(f"orders-{uuid4().hex}")
    account.client("dynamodb").put_item(TableName=store.table, Item={"circuit": {"S": store.name}})

    with pytest.raises(StoreUnavailable, match="was not written by us; delete it"):
        store.read()


def test_a_table_that_is_not_there_is_told(account: Account) -> None:
    store = DynamoDbCircuit("no-such-table", "orders", client=account.client("dynamodb"), timeout=seconds(5))

    with pytest.raises(StoreUnavailable, match="ResourceNotFoundException"):
        store.read()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """An endpoint that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        for name, value in {**CREDENTIALS, "AWS_DEFAULT_REGION": REGION, "AWS_ENDPOINT_URL": url}.items():
            monkeypatch.setenv(name, value)
        process_client.cache_clear()
        yield server
        process_client.cache_clear()


def test_a_dynamodb_that_never_answers_holds_no_message_up(endpoint: socket.socket) -> None:
    instance = Instance(RateLimit(5, store=DynamoDbCircuit("circuits", "orders")), Clock())

    assert instance.fail(4) == ["attempted"] * 4
    assert [notice.text.partition(". This")[0] for notice in instance.notices] == [
        "Calling the circuit's store failed (DynamoDB: ReadTimeoutError)"
    ]


def test_a_dynamodb_that_refuses_connections_holds_no_message_up(endpoint: socket.socket) -> None:
    endpoint.close()
    instance = Instance(RateLimit(5, store=DynamoDbCircuit("circuits", "orders")), Clock())

    assert instance.attempt(Boom("down")) == "attempted"
    assert "(DynamoDB: EndpointConnectionError)" in instance.notices[0].text


def test_a_name_that_nobody_looks_up_holds_no_message_up(
    endpoint: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = Event()

    def hang(*_name: object, **_kind: object) -> None:
        done.wait(60)
        raise socket.gaierror("no name server")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    instance = Instance(RateLimit(5, store=DynamoDbCircuit("unnamed", "orders")), Clock())

    assert instance.attempt(Boom("down")) == "attempted"
    assert "DynamoDB gave no answer within 1 s" in instance.notices[0].text
    done.set()


def test_what_hangs_is_not_asked_by_each_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging:
        """A client that counts its calls, which all hang."""

        done, calls = Event(), 0

        def hang(self, **_request: object) -> None:
            self.calls += 1
            self.done.wait(60)

        get_item = put_item = hang

    monkeypatch.setattr("recoverable.circuits._dynamodb.SLACK", 0.0)
    client: Any = Hanging()
    store = DynamoDbCircuit("hanging", "orders", client=client, timeout=seconds(0.01))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.read()
        with pytest.raises(StoreUnavailable):
            store.compare_and_set(Snapshot(version=0), LIMITED)
    Hanging.done.set()

    assert client.calls == 3  # a read after the first change may not share the answer of the one before it


def test_its_own_client_waits_a_fifth_of_a_second_in_all_and_tries_once(endpoint: socket.socket) -> None:
    config = process_client("dynamodb", None, 0.2).meta.config

    assert config.connect_timeout + config.read_timeout == 0.2
    assert config.retries["total_max_attempts"] == 1


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"table": ""}, ValueError, "DynamoDbCircuit\\(table\\) is blank"),
    ({"name": None}, TypeError, "DynamoDbCircuit\\(name\\) is None"),
    ({"timeout": seconds(0)}, ValueError, "write how long a call may take"),
    ({"timeout": seconds(6)}, ValueError, "from 0 to 0:00:05"),
]


@pytest.mark.parametrize(("settings", "error", "says"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_what_cannot_work_is_refused(settings: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        DynamoDbCircuit(**{"table": "circuits", "name": "orders", **settings})
