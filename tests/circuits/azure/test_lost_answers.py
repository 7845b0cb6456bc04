"""Switches of the circuit whose answer gets lost between table storage and the function: the callbacks are made all the same, at once, and once."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from azure.data.tables import TableClient

from builders import Clock, delivery, seconds
from rate_limit.rate_limited import Calls, Instance, delay_before
from recoverable._rate_limit.state import CLOSED
from recoverable.circuits import TableCircuit
from servers.faulty_proxy import FaultyProxy

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("azurite")]

CREATE, UPDATE = "POST", "PUT"


def circuit(connection: str, table: str, *, tries: int) -> TableCircuit:
    """Return a circuit whose client makes each call so many times at most, with a long time-out for a machine that others use too."""
    client = TableClient.from_connection_string(connection, table, retry_total=tries - 1, retry_backoff_factor=0)
    return TableCircuit(table, "orders", client=client, timeout=seconds(5))


@pytest.mark.parametrize("tries", [1, 2])
@pytest.mark.parametrize("lost", [("start",), ("end",), ("start", "end")], ids=" and ".join)
def test_one_instance_calls_back_for_each_switch(azurite: str, lost: tuple[str, ...], tries: int) -> None:
    calls, clock, table = Calls(), Clock(), f"circuits{uuid4().hex}"
    TableClient.from_connection_string(azurite, table).create_table()
    [address] = re.findall(r"127\.0\.0\.1:\d+", azurite)
    with FaultyProxy(address) as proxy:
        store = circuit(azurite.replace(address, proxy.address), table, tries=tries)
        instance, probe = Instance(calls.limit(2, store=store), clock), delivery()
        instance.fail()
        if "start" in lost:
            proxy.lose_next_answer(CREATE)
        instance.fail()
        clock.advance(seconds(1))
        limiter = instance.limiter()
        delay_before(limiter, probe)
        if "end" in lost:
            proxy.lose_next_answer(UPDATE)
        limiter.after(delivery(), None)
        circuit_at_the_end = store.read().circuit

    assert (calls, circuit_at_the_end, proxy.failed) == (["started", "ended"], CLOSED, len(lost))
