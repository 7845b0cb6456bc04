"""Test that a topic reaches an endpoint through its queue, so that a retry reaches nobody else."""

from __future__ import annotations

import pytest

from local.functions_host.conftest import Start

ENDPOINT = """
from datetime import timedelta
from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.azure import ServiceBusEndpoint

def place_order(message):
    raise ValueError(f"round {message.round}")

ladder = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=1)), Failed("failed"))
app.register_functions(ServiceBusEndpoint(place_order, ladder, queue="orders", connection="ServiceBus").blueprint())
"""


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_an_event_climbs_the_ladder_of_its_endpoint_and_no_other_subscriber_sees_a_retry(start: Start) -> None:
    running = start(ENDPOINT, topics=[("events", "orders"), ("events", "audit")], queues=["audit"])
    running.host.send("events", "order 42")
    running.until(lambda: running.host.queue("failed").depth().active)
    [failed] = running.host.queue("failed").messages()

    properties = failed.application_properties
    assert (properties["NServiceBus.FailedQ"], properties["NServiceBus.ExceptionInfo.Message"]) == ("orders", "round 1")
    assert [each.delivery_count for each in running.delivered()] == [1, 2, 1, 2]
    assert [each.body for each in running.host.queue("audit").messages()] == [b"order 42"]


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_queues_and_topics_may_have_slashes_in_their_names(start: Start) -> None:
    sales = ENDPOINT.replace('"orders"', '"sales/orders"').replace('"failed"', '"sales/failed"')
    running = start(sales, topics=[("sales/events", "orders")], queues=["orders"])
    running.host.send("sales/orders", "order 42")
    running.host.send("sales/events", "order 43")
    running.until(lambda: running.host.queue("sales/failed").depth().active)
    [failed] = running.host.queue("sales/failed").messages()

    assert failed.application_properties["NServiceBus.FailedQ"] == "sales/orders"
    assert [each.body for each in running.host.queue("orders").messages()] == [b"order 43"]
