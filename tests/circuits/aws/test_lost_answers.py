"""Switches of the circuit whose answer gets lost between DynamoDB and the function: the callbacks are made all the same, at once, and once."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from botocore.config import Config

from builders import Clock, delivery, seconds
from circuits.aws.conftest import Account
from rate_limit.rate_limited import Calls, Instance, delay_before
from recoverable._rate_limit.state import CLOSED
from servers.faulty_proxy import FaultyProxy
from servers.moto import session

CHANGE = "PutItem"


def behind(proxy: FaultyProxy, *, tries: int) -> Any:
    """A client that goes through the proxy, and makes each call so many times at most."""
    made: Any = session()
    config = Config(retries={"total_max_attempts": tries, "mode": "standard"})
    return made.client("dynamodb", endpoint_url=proxy.url, config=config)


@pytest.mark.parametrize("tries", [1, 2])
@pytest.mark.parametrize("lost", [("start",), ("end",), ("start", "end")], ids=" and ".join)
def test_one_instance_calls_back_for_each_switch(account: Account, lost: tuple[str, ...], tries: int) -> None:
    calls, clock = Calls(), Clock()
    with FaultyProxy(account.url) as proxy:
        circuit = account.circuit(f"orders-{uuid4().hex}", client=behind(proxy, tries=tries))
        instance, probe = Instance(calls.limit(2, store=circuit), clock), delivery()
        if "start" in lost:
            proxy.lose_next_answer(CHANGE)
        instance.fail(2)
        clock.advance(seconds(1))
        limiter = instance.limiter()
        delay_before(limiter, probe)
        if "end" in lost:
            proxy.lose_next_answer(CHANGE)
        limiter.after(delivery(), None)
        circuit_at_the_end = circuit.read().circuit

    assert (calls, circuit_at_the_end, proxy.failed) == (["started", "ended"], CLOSED, len(lost))
