"""Test that what a function gives to its Service Bus output bindings is sent before its message is completed."""

from __future__ import annotations

from typing import Any

import pytest

from local.functions_host.conftest import Start
from recoverable_local.functions_host import Ended, Raised, Typed
from recoverable_local.functions_host.extension.outputs import bodies_of

TRIGGER = '@app.service_bus_queue_trigger(arg_name="message", queue_name="orders", connection="ServiceBus", data_type="binary")'
INVOICE = f"""
{TRIGGER}
@app.service_bus_queue_output(arg_name="invoice", queue_name="%Invoices%", connection="ServiceBus")
def order(message: func.ServiceBusMessage, invoice: func.Out[str]) -> None:
    invoice.set(message.get_body().decode())
"""
RETURNED = f"""
{TRIGGER}
@app.service_bus_topic_output(arg_name="$return", topic_name="events", connection="ServiceBus")
def order(message: func.ServiceBusMessage) -> str:
    return "placed " + message.get_body().decode()
"""
BLOB = f"""
{TRIGGER}
@app.blob_output(arg_name="receipt", path="receipts/1", connection="AzureWebJobsStorage")
def order(message: func.ServiceBusMessage, receipt: func.Out[str]) -> None:
    receipt.set("x")
"""


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_a_value_is_a_message_in_the_bindings_queue(start: Start) -> None:
    running = start(INVOICE, app_settings={"Invoices": "invoices"})
    running.host.send("orders", "order 42")
    running.ended(1)

    assert [each.body for each in running.host.queue("invoices").messages()] == [b"order 42"]


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_what_is_returned_is_a_message_in_the_bindings_topic(start: Start) -> None:
    running = start(RETURNED, topics=[("events", "audit")], queues=["audit"])
    running.host.send("orders", "42")
    running.ended(1)

    assert [each.body for each in running.host.queue("audit").messages()] == [b"placed 42"]


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_a_message_whose_output_cannot_be_sent_comes_back(start: Start) -> None:
    running = start(INVOICE, max_delivery_count=2, app_settings={"Invoices": "invoices"})
    running.host.send("orders", "[no json]")
    ended = running.ended(2)

    error = Raised("an output binding failed: JSONDecodeError: Expecting value: line 1 column 2 (char 1)")
    assert [(each.settled, each.outcome) for each in ended] == [("abandoned", error)] * 2
    assert [each.body for each in running.host.queue("error").messages()] == [b"[no json]"]


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_a_function_with_a_binding_that_is_not_offered_is_not_run(start: Start) -> None:
    running = start(BLOB)

    assert [(each.function, each.reason) for each in running.host.served.not_served] == [
        (
            "order",
            "its binding 'receipt' is of the type 'blob', and only the Service Bus trigger and output are offered here",
        )
    ]
    assert running.all(Ended) == []


@pytest.mark.parametrize(
    ("value", "bodies"),
    [
        (Typed("string", "order 42"), ["order 42"]),
        (Typed("bytes", b"[1]"), [b"[1]"]),
        (Typed("string", '{"id":42}'), ['{\n  "id": 42\n}']),
        (Typed("string", ' ["a", {"id": 1}, 2, true, null] '), ["a", '{\n  "id": 1\n}', "2", "True", ""]),
        (Typed("string", "42"), ["42"]),
        (Typed("collection_bytes", [b"a", b"b"]), [b"a", b"b"]),
    ],
)
def test_a_json_text_is_parsed_and_an_array_becomes_several_messages(value: Typed, bodies: list[Any]) -> None:
    assert bodies_of(value) == bodies
