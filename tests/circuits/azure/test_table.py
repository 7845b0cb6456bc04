"""The circuit in table storage: the contract of all stores, connections, and what it does when the storage cannot be asked."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
from azure.core.exceptions import ServiceRequestError
from azure.data.tables import TableClient

from builders import NOW, Boom, Clock, seconds
from rate_limit.circuit_contract import LIMITED, CircuitContract, NewStore
from rate_limit.rate_limited import Instance
from recoverable import RateLimit, StoreUnavailable
from recoverable._rate_limit.state import CLOSED, Open, Snapshot
from recoverable.circuits import TableCircuit
from recoverable.circuits._table import endpoint_of, table_client

on_azurite = [pytest.mark.slow, pytest.mark.xdist_group("azurite")]


@pytest.fixture
def table(azurite: str) -> TableClient:
    """Return a client of a table that is not there yet."""
    return TableClient.from_connection_string(azurite, f"circuits{uuid4().hex}")


def circuit(table: TableClient, name: str = "orders") -> TableCircuit:
    """Return a circuit in a table, with a long time-out for a machine that others use too."""
    return TableCircuit(table.table_name, name, client=table, timeout=seconds(5))


class TestTableCircuit(CircuitContract):
    """On Azurite."""

    pytestmark = on_azurite

    @pytest.fixture
    def new_store(self, table: TableClient) -> NewStore:
        """Return a function that makes stores of one new circuit."""
        return lambda: circuit(table)


class TestEntities:
    """What is in the table."""

    pytestmark = on_azurite

    def test_circuits_of_different_names_are_different(self, table: TableClient) -> None:
        orders, bills = circuit(table, "orders"), circuit(table, "bills")
        orders.compare_and_set(orders.read(), LIMITED)

        assert bills.read().circuit == CLOSED

    def test_an_entity_says_what_it_is_to_whoever_looks_at_the_table(self, table: TableClient) -> None:
        store = circuit(table)
        store.compare_and_set(store.read(), Open(NOW, NOW + seconds(1)), "a switch")

        assert dict(table.get_entity("circuit", "orders")) == {
            "PartitionKey": "circuit",
            "RowKey": "orders",
            "limited_since": "2026-03-14 15:09:26:535897 Z",
            "next_attempt_at": "2026-03-14 15:09:27:535897 Z",
            "switch": "a switch",
        }

    def test_a_circuit_that_cannot_be_read_limits_nobody(self, table: TableClient) -> None:
        store = circuit(table)
        seen = store.compare_and_set(store.read(), LIMITED)
        table.update_entity({"PartitionKey": "circuit", "RowKey": "orders", "limited_since": 7})

        assert (seen is not None, store.read().circuit) == (True, CLOSED)

    def test_an_entity_that_was_deleted_is_one_that_was_changed(self, table: TableClient) -> None:
        store = circuit(table)
        seen = store.compare_and_set(store.read(), LIMITED)
        table.delete_entity("circuit", "orders")
        assert seen is not None

        assert store.compare_and_set(seen, CLOSED) is None

    def test_the_connection_is_the_function_apps_own(self, azurite: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AzureWebJobsStorage", azurite)  # the host's own spelling
        store = TableCircuit(f"circuits{uuid4().hex}", "orders", timeout=seconds(5))

        assert store.compare_and_set(store.read(), LIMITED) == store.read()


SILENT = "DefaultEndpointsProtocol=http;AccountName=shop;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:{}/shop"


@pytest.mark.parametrize(
    ("version", "call"), [("", ("POST", None)), ('W/"seen"', ("PUT", 'W/"seen"'))], ids=["the first one", "any other"]
)
def test_a_change_is_written_only_over_the_version_that_was_seen(version: str, call: tuple[str, str | None]) -> None:
    calls: list[tuple[str, str | None]] = []

    def refuse(request: Any) -> None:
        calls.append((request.http_request.method, request.http_request.headers.get("If-Match")))
        raise ServiceRequestError("nobody is there")

    client = TableClient.from_connection_string(SILENT.format(1), "circuits", raw_request_hook=refuse, retry_total=0)

    with pytest.raises(StoreUnavailable):
        circuit(client).compare_and_set(Snapshot(CLOSED, version), LIMITED)
    assert calls == [call]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Yield a storage account that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        monkeypatch.setenv("AzureWebJobsStorage", SILENT.format(server.getsockname()[1]))  # as above
        table_client.cache_clear()
        yield server
        table_client.cache_clear()


def test_a_storage_that_never_answers_holds_no_message_up(endpoint: socket.socket) -> None:
    instance = Instance(RateLimit(5, store=TableCircuit("circuits", "orders")), Clock())

    assert instance.fail(4) == ["attempted"] * 4
    assert len(instance.notices) == 1
    assert instance.notices[0].text.startswith("Calling the circuit's store failed (table storage ")


def test_a_storage_that_refuses_connections_holds_no_message_up(endpoint: socket.socket) -> None:
    endpoint.close()
    store = TableCircuit("circuits", "orders", timeout=seconds(5))
    instance = Instance(RateLimit(5, store=store), Clock())

    assert instance.attempt(Boom("down")) == "attempted"
    assert "table storage failed (ServiceRequestError)" in instance.notices[0].text


def test_whatever_hangs_before_the_call_holds_no_message_up() -> None:
    class Hanging:
        """A client whose credential never gets its token."""

        done = Event()

        def get_entity(self, *_key: str, **_options: int) -> None:
            self.done.wait(60)

    hanging: Any = Hanging()
    instance = Instance(RateLimit(5, store=TableCircuit("hanging", "orders", client=hanging)), Clock())

    assert instance.attempt(Boom("down")) == "attempted"
    assert "table storage gave no answer within 0.2 s" in instance.notices[0].text
    hanging.done.set()


def test_what_hangs_is_not_asked_by_each_invocation() -> None:
    class Hanging:
        """A client that counts its calls, which all hang."""

        done, calls = Event(), 0

        def get_entity(self, *_key: str, **_options: int) -> None:
            self.calls += 1
            self.done.wait(60)

        def create_entity(self, _entity: object) -> None:
            self.calls += 1
            self.done.wait(60)

    client: Any = Hanging()
    store = TableCircuit("hanging", "orders", client=client, timeout=seconds(0.01))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.read()
        with pytest.raises(StoreUnavailable):
            store.compare_and_set(Snapshot(version=""), LIMITED)
    Hanging.done.set()

    assert client.calls == 3  # a read after the first change may not share the answer of the one before it


def test_a_connection_that_is_no_setting_is_logged_and_holds_no_message_up() -> None:
    instance = Instance(RateLimit(5, store=TableCircuit("circuits", "orders", connection="NoSuch")), Clock())

    assert instance.attempt(Boom("down")) == "attempted"
    assert "'NoSuch' is not among the app settings; add NoSuch" in instance.notices[0].text


IDENTITIES = [
    ({"AzureWebJobsStorage__accountName": "shop"}, "https://shop.table.core.windows.net"),
    ({"azurewebjobsstorage__TABLESERVICEURI": "https://t.example"}, "https://t.example"),
    ({"AzureWebJobsStorage__blobServiceUri": "https://b.example"}, None),
]


@pytest.mark.parametrize(("settings", "endpoint"), IDENTITIES, ids=[str(each) for each, _ in IDENTITIES])
def test_an_identity_names_the_account_or_its_table_endpoint(settings: dict[str, str], endpoint: str | None) -> None:
    assert endpoint_of("AzureWebJobsStorage", settings) == endpoint


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"table": "my-circuits"}, ValueError, "write a letter, then 2 to 62 letters or digits"),
    ({"table": None}, TypeError, "TableCircuit\\(table\\) is None"),
    ({"name": "shop/orders"}, ValueError, "TableCircuit\\(name\\) is 'shop/orders'; write it without"),
    ({"name": " "}, ValueError, "TableCircuit\\(name\\) is blank"),
    ({"connection": ""}, ValueError, "TableCircuit\\(connection\\) is blank"),
    ({"timeout": seconds(0)}, ValueError, "write how long a call may take"),
]


@pytest.mark.parametrize(("settings", "error", "says"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_what_cannot_work_is_refused(settings: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        TableCircuit(**{"table": "circuits", "name": "orders", **settings})


def test_a_store_says_why_it_cannot_be_asked(endpoint: socket.socket) -> None:
    with pytest.raises(StoreUnavailable, match="table storage"):
        TableCircuit("circuits", "orders").read()
