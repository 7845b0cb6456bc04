"""The circuit in table storage after a quiet time: idle connections are renewed, a read that is reset is made once more, a change is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from azure.data.tables import TableClient

from builders import seconds
from rate_limit.circuit_contract import LIMITED
from recoverable import StoreUnavailable
from recoverable._rate_limit.state import CLOSED
from recoverable.circuits import TableCircuit
from recoverable.circuits._table import table_client
from recoverable_local.testing import ConnectionReset
from servers.faulty_proxy import FaultyProxy, Rule

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("azurite")]

READ, CHANGE = "GET", "PUT"


@pytest.fixture
def proxy(azurite: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    """Yield a proxy before the Function App's own account."""
    [address] = re.findall(r"127\.0\.0\.1:\d+", azurite)
    with FaultyProxy(address) as proxy:
        monkeypatch.setenv("AzureWebJobsStorage", azurite.replace(address, proxy.address))
        table_client.cache_clear()
        yield proxy
        table_client.cache_clear()


@pytest.fixture(params=["own", "given"])
def new_store(request: pytest.FixtureRequest, proxy: FaultyProxy, azurite: str) -> Callable[[], TableCircuit]:
    """Return a function that makes a store of an open circuit, whose connection has carried a call; its client is our own or given."""
    through = re.sub(r"127\.0\.0\.1:\d+", proxy.address, azurite)

    def make() -> TableCircuit:
        table = f"circuits{uuid4().hex}"
        given = TableClient.from_connection_string(through, table, retry_total=0) if request.param == "given" else None
        store = TableCircuit(table, "orders", client=given, timeout=seconds(5))
        store.compare_and_set(store.read(), LIMITED)
        proxy.calls.clear()
        proxy.connections.clear()
        return store

    return make


@pytest.mark.parametrize("done", [False, True])
def test_a_read_that_is_reset_is_made_once_more(
    new_store: Callable[[], TableCircuit],
    proxy: FaultyProxy,
    done: bool,  # noqa: FBT001  # a parameter
) -> None:
    store = new_store()
    proxy.rules.append(Rule(READ, ConnectionReset(done=done), (1,)))

    assert (store.read().circuit, proxy.calls[READ]) == (LIMITED, 2)


def test_a_read_is_made_twice_at_most(new_store: Callable[[], TableCircuit], proxy: FaultyProxy) -> None:
    store = new_store()
    proxy.rules.append(Rule(READ, ConnectionReset()))

    with pytest.raises(StoreUnavailable, match="ServiceResponseError"):
        store.read()

    assert proxy.calls[READ] == 2


def test_a_change_that_is_reset_is_not_repeated(new_store: Callable[[], TableCircuit], proxy: FaultyProxy) -> None:
    store = new_store()
    seen = store.read()
    proxy.rules.append(Rule(CHANGE, ConnectionReset(done=True), (1,)))

    with pytest.raises(StoreUnavailable, match="ServiceResponseError"):
        store.compare_and_set(seen, CLOSED)

    assert (proxy.calls[CHANGE], store.read().circuit) == (1, CLOSED)


@pytest.mark.parametrize("passed", [61, 86_400, -1])
def test_a_change_after_a_quiet_time_meets_no_forgotten_connection(
    proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch, passed: float
) -> None:
    now = [1_000.0]
    monkeypatch.setattr("recoverable.circuits._table.monotonic", lambda: now[0])
    store = TableCircuit(f"circuits{uuid4().hex}", "orders", timeout=seconds(5))
    store.compare_and_set(store.read(), LIMITED)
    seen = store.read()
    proxy.forget()
    now[0] += passed

    assert store.compare_and_set(seen, CLOSED) == store.read()
    assert proxy.calls[CHANGE] == 1


def test_on_a_busy_day_all_calls_go_through_one_connection(proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr("recoverable.circuits._table.monotonic", lambda: now[0])
    store = TableCircuit(f"circuits{uuid4().hex}", "orders", timeout=seconds(5))
    for _ in range(4):
        store.read()
        now[0] += 60

    assert (proxy.calls[READ], len(proxy.connections)) == (4, 1)
