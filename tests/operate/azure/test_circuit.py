"""`recoverable errors retry --circuit` asks the circuit in table storage, on Azurite, before it sends messages back on Service Bus."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from uuid import uuid4

import pytest

from builders import NOW, seconds
from circuits.azure.azurite import azurite
from deadlines import eventually
from operate.azure.conftest import ERROR, Bus
from recoverable import StoreUnavailable
from recoverable._rate_limit.state import CLOSED, Circuit, Open
from recoverable.circuits import TableCircuit

__all__ = ["azurite"]

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("azurite")]

DONE, REFUSED = 0, 2


@pytest.fixture
def table(azurite: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a new table's name; the account is that of the Function App."""
    monkeypatch.setenv("AzureWebJobsStorage", azurite)  # the host's own spelling
    return f"circuits{uuid4().hex}"


def switch(table: str, *to: Circuit) -> None:
    """Give the circuit `orders` these states, one after the other."""
    store = TableCircuit(table, "orders", timeout=seconds(5))
    for each in to:
        eventually(partial(is_so, store, each), f"the circuit to be {each}")


def is_so(store: TableCircuit, circuit: Circuit) -> bool:
    """True if the store has the circuit so, after a change where it had not; False while it gives no answer in time."""
    with suppress(StoreUnavailable):
        before = store.read()
        return before.circuit == circuit or store.compare_and_set(before, circuit) is not None
    return False


@pytest.mark.parametrize(
    ("states", "options", "status", "sent"),
    [
        ([Open(NOW, NOW)], ["--yes"], REFUSED, 0),
        ([Open(NOW, NOW)], ["--confirm", ERROR], DONE, 1),
        ([Open(NOW, NOW), CLOSED], ["--yes"], DONE, 1),
        ([], ["--yes"], DONE, 1),
    ],
    ids=["open", "open, and the name is given", "closed", "never opened"],
)
def test_while_the_circuit_is_open_only_the_name_sends_messages_back(
    bus: Bus, table: str, states: list[Circuit], options: list[str], status: int, sent: int
) -> None:
    switch(table, *states)
    bus.send_failed()

    ran = bus.run("retry", "--allow", "orders", "--circuit", f"{table}/orders", *options)

    is_open = states == [Open(NOW, NOW)]
    assert (ran.status, len(bus.seen("orders"))) == (status, sent)
    assert (f"The circuit {table}/orders has been open since" in ran.err) == is_open
