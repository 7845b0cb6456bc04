"""Test the rules of a subscription over `$management`, by the requests of Microsoft's JavaScript SDK, sent with the connection of the Python one."""

from __future__ import annotations

import time
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusReceiver
from azure.servicebus._common.mgmt_handlers import default
from azure.servicebus.exceptions import ServiceBusError

from local.service_bus.bus import Bus
from local.service_bus.conftest import Serve
from recoverable_local.service_bus import CorrelationFilter, Queue, Rule, SqlFilter, Subscription, Topic, TrueFilter
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.links.rules import listed

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

PLACED = {"correlation-filter": {"label": "placed", "properties": {"tenant": "north"}}}


def ask(receiver: ServiceBusReceiver, operation: str, **body: Any) -> Any:
    """Send a request to `$management`, and return its answer's value."""
    name = f"com.microsoft:{operation}".encode()
    arguments = {key.replace("_", "-"): value for key, value in body.items()}
    return receiver._mgmt_request_response_with_retry(name, arguments, default)


def rules(receiver: ServiceBusReceiver) -> list[tuple[str, list[Any]]]:
    """Return the names of all rules, and the values of their filters."""
    answer = ask(receiver, "enumerate-rules", top=100, skip=0) or {}
    described = [each[b"rule-description"] for each in answer.get(b"rules", [])]
    return [(name.decode(), list(values)) for values, _action, name in described]


def billing(serve: Serve, *filters: CorrelationFilter) -> Bus:
    return serve(
        Queue("orders"), Topic("events", (Subscription("billing", filters) if filters else Subscription("billing"),))
    )


def published(bus: Bus, **fields: Any) -> int:
    """Publish one message, and return how many the subscription has."""
    with bus.client.get_topic_sender("events") as sender:
        sender.send_messages(ServiceBusMessage("hello", **fields))
    return bus.namespace.subscription("events", "billing").depth().active


def test_rules_are_listed_with_their_filters(serve: Serve) -> None:
    bus = billing(serve, CorrelationFilter(subject="placed"), CorrelationFilter(properties={"tenant": "north"}))

    with bus.client.get_subscription_receiver("events", "billing") as receiver:
        found = rules(receiver)
        second = ask(receiver, "enumerate-rules", top=1, skip=1)

    none = [None] * 4
    assert found == [("$Default", [*none, b"placed", *none[:3], {}]), ("rule-1", [*none, *none, {b"tenant": b"north"}])]
    assert len(second[b"rules"]) == 1


def test_a_rule_that_is_added_lets_messages_through_and_one_that_is_removed_no_more(serve: Serve) -> None:
    bus = billing(serve)

    with bus.client.get_subscription_receiver("events", "billing") as receiver:
        ask(receiver, "remove-rule", rule_name="$Default")
        without = published(bus, subject="placed", application_properties={"tenant": "north"})
        ask(receiver, "add-rule", rule_name="placed", rule_description=PLACED)
        passes = published(bus, subject="placed", application_properties={"tenant": "north"})
        filtered = published(bus, subject="placed", application_properties={"tenant": "south"})
        ask(receiver, "add-rule", rule_name="all", rule_description={"sql-filter": {"expression": "1=1"}})
        every = published(bus)
        names = [name for name, _ in rules(receiver)]

    assert (without, passes, filtered, every, names) == (0, 1, 1, 2, ["placed", "all"])


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a second of one name": ("add-rule", {"rule_name": "$Default", "rule_description": PLACED}, "already exists"),
    "one that is missing": ("remove-rule", {"rule_name": "absent"}, "could not be found"),
    "arithmetic": ("add-rule", {"rule_name": "r", "rule_description": {"sql-filter": {"expression": "a + 1 = 1"}}}, "arithmetic"),
    "no filter": ("add-rule", {"rule_name": "r", "rule_description": {}}, "neither a correlation-filter nor a sql-filter"),
    "an action of a function": ("add-rule", {"rule_name": "r", "rule_description": {**PLACED, "sql-rule-action": {"expression": "SET a = newid()"}}}, "anything but a constant"),
    "a filter of nothing": ("add-rule", {"rule_name": "r", "rule_description": {"correlation-filter": {}}}, "names nothing|neither"),
}  # fmt: skip


@pytest.mark.parametrize(("operation", "body", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_emulator_does_not_have_is_refused(
    serve: Serve, operation: str, body: dict[str, Any], text: str
) -> None:
    bus = billing(serve)

    with (
        bus.client.get_subscription_receiver("events", "billing") as receiver,
        pytest.raises(ServiceBusError, match=text),
    ):
        ask(receiver, operation, **body)


def test_a_queue_has_no_rules(serve: Serve) -> None:
    bus = billing(serve)

    with (
        bus.client.get_queue_receiver("orders") as receiver,
        pytest.raises(ServiceBusError, match="it is no subscription"),
    ):
        ask(receiver, "enumerate-rules", top=1, skip=0)


def test_the_answer_has_the_descriptors_by_which_the_javascript_sdk_reads_it() -> None:
    filters = (TrueFilter(), CorrelationFilter(subject="placed"), Rule(SqlFilter("a = 1"), "SET b = 2"))
    namespace = Namespace([], [Topic("events", (Subscription("billing", filters),))], clock=time.time)

    found = listed(namespace.find("events/Subscriptions/billing"), {"top": 9, "skip": 0})

    described = [decode(each)[0]["rule-description"] for each in found]
    assert [(each.code, each.value[0].code, each.value[1].code) for each in described] == [
        (1335734829060, 83483426823, 1335734829061),
        (1335734829060, 83483426825, 1335734829061),
        (1335734829060, 83483426822, 1335734829062),
    ]
