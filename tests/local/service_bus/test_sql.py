"""The SQL of subscription rules: Microsoft's examples, the tables of unknown, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from hypothesis import given
from hypothesis import strategies as st

from local.service_bus.conftest import Serve
from recoverable_local.service_bus import Queue, Rule, SqlFilter, Subscription, Topic
from recoverable_local.service_bus.broker.sql import EvaluationError, Properties, evaluate
from recoverable_local.service_bus.broker.sql_syntax import parse_action, parse_condition

SYSTEM = {"label": "the bus", "messageid": "xxxx", "correlationid": "abc-1", "to": "Store8", "replyto": None}


def holds(condition: str, **own: Any) -> bool | None:
    """Return what a condition is for a message with these properties; None for unknown."""
    found = {name.replace("_", " ").lower(): value for name, value in own.items()}
    return evaluate(parse_condition(condition), Properties(found, SYSTEM))


EXAMPLES: list[tuple[str, dict[str, Any], bool | None]] = [
    ("1=1", {}, True),
    ("sys.label LIKE '%bus%'", {}, True),
    ("sys.messageid = 'xxxx'", {}, True),
    ("sys.correlationid like 'abc-%'", {}, True),
    ("MessageProperty = 'A'", {"messageproperty": "A"}, True),
    ("user.SuperHero like 'SuperMan%'", {"SuperHero": "SuperMan 2"}, True),
    ("MessageProperty = 1", {"MessageProperty": 1.0}, True),
    ("MessageProperty > 1", {"MessageProperty": 1}, False),
    ("MessageProperty > 2.08", {"MessageProperty": 3}, True),
    ("MessageProperty = 1 AND MessageProperty2 = 3", {"MessageProperty": 1, "MessageProperty2": 3}, True),
    ("MessageProperty = 1 OR MessageProperty2 = 3", {"MessageProperty2": 3}, True),
    ("StoreId IN('Store1', 'Store2', 'Store3')", {"StoreId": "Store2"}, True),
    ("sys.To IN ('Store5','Store6','Store7') OR StoreId = 'Store8'", {"StoreId": "Store8"}, True),
    ("sys.To NOT IN ('Store1','Store8') OR StoreId NOT IN ('Store1','Store8')", {"StoreId": "Store9"}, True),
    ("sys.Label LIKE '%bus%' OR user.tag IN ('queue', 'topic', 'subscription')", {}, True),
    ("color='blue' AND quantity=10", {"color": "blue", "quantity": 10}, True),
    ("sys.ReplyTo = 'johndoe@contoso.com' AND sys.Label = 'Important' AND color = 'Red'", {"color": "Red"}, False),
]
"""The examples of "Set subscription filters" and "Subscription Rule SQL Filter Syntax" (Azure Service Bus)."""


@pytest.mark.parametrize(("condition", "own", "expected"), EXAMPLES, ids=[each[0] for each in EXAMPLES])
def test_microsofts_examples(condition: str, own: dict[str, Any], expected: bool | None) -> None:  # noqa: FBT001  # what is expected
    assert holds(condition, **own) is expected


@pytest.mark.parametrize(
    ("condition", "own", "expected"),
    [
        ("property LIKE 'ABC\\%' ESCAPE '\\'", {"property": "ABC%"}, True),
        ("property LIKE 'ABC\\%' ESCAPE '\\'", {"property": "ABCD"}, False),
        ("a LIKE '_b' AND a NOT LIKE 'b%'", {"a": "ab"}, True),
        ("a LIKE '.'", {"a": "x"}, False),
        ('[Property With Space] = 1 AND "property with space" = 1', {"Property_With_Space": 1}, True),
        ("[a]]b] = 'it''s'", {"a]b": "it's"}, True),
        ("(a) = ((1)) AND NOT (a <> 1 OR a != 1)", {"a": 1}, True),
        ("a >= -1.5E0 AND a <= +1", {"a": -1.5}, True),
        ("a < b", {"a": "a", "b": "b"}, True),
        ("vip = TRUE AND NOT vip = false", {"vip": True}, True),
        ("a = 1 OR a = 2 AND b = 3", {"a": 1, "b": 0}, True),
        ("EXISTS (a) AND NOT EXISTS(b) AND a IS NULL AND b IS NULL AND c IS NOT NULL", {"a": None, "c": 1}, True),
        ("missing = 1", {}, None),
        ("NOT missing = 1", {}, None),
        ("missing LIKE 'a' OR missing IN (1) OR missing NOT IN (1)", {}, None),
        ("a = NULL", {"a": 1}, None),
    ],
)
def test_what_a_condition_is(condition: str, own: dict[str, Any], expected: bool | None) -> None:  # noqa: FBT001  # what is expected
    assert holds(condition, **own) is expected


VALUES = {"T": "1 = 1", "F": "1 = 2", "U": "missing = 1"}
RESULTS = {True: "T", False: "F", None: "U"}


@pytest.mark.parametrize(("operator", "table"), [("AND", "TFU FFF UFU"), ("OR", "TTT TFU TUU")])
def test_unknown_is_as_the_page_has_it(operator: str, table: str) -> None:
    rows = [
        "".join(RESULTS[holds(f"{VALUES[left]} {operator} {VALUES[right]}")] for right in VALUES) for left in VALUES
    ]
    assert " ".join(rows) == table


@pytest.mark.parametrize(
    "condition", ["sys.absent = 1", "EXISTS(sys.absent)", "a > 'text'", "a = 'text'", "a LIKE 'x'", "vip > vip"]
)
def test_what_has_no_value_is_an_error(condition: str) -> None:
    with pytest.raises(EvaluationError):
        holds(condition, a=1, vip=True)


@pytest.mark.parametrize(
    ("condition", "what"),
    [
        ("a + 1 = 2", "arithmetic"), ("-a = 1", "arithmetic"), ("a = b % 2", "arithmetic"), ("newid() = a", "the function newid()"),
        ("p('x') = 1", "the function p()"), ("a = @limit", "the parameter @limit"), ("a", "a comparison"), ("a =", "its end"),
        ("(a = 1", "its end"), ("a = 1 b", "'b'"), ("a IN ()", "')'"), ("a = 'x", "no part of the grammar"), ("", "its end"),
        ("NULL IS NULL", "a property"), ("a = (1 = 1)", "a value"), ("a = 99999999999999999999", "64 bits"), ("(" * 5_000, "nested"),
    ],
)  # fmt: skip
def test_what_is_not_served_is_named_when_the_rule_is_made(condition: str, what: str) -> None:
    with pytest.raises(ValueError, match="the SQL") as refused:
        SqlFilter(condition)

    assert what in str(refused.value)


@given(st.text(alphabet="ab1'\"[](),.;=<>!+-*% @NOTINLIKEsys", max_size=40))
def test_any_text_is_parsed_or_refused_with_a_reason(text: str) -> None:
    for parse in (parse_condition, parse_action):
        with suppress(ValueError):
            parse(text)


def received(serve: Serve, subscription: Subscription, *messages: ServiceBusMessage) -> tuple[list[Any], list[Any]]:
    """Publish messages. Return the properties and subjects of those that a subscription has, and its dead letters' reasons."""
    bus = serve(Queue("orders"), Topic("events", (subscription,)))
    with bus.client.get_topic_sender("events") as sender:
        sender.send_messages(list(messages))
    view = bus.namespace.subscription("events", subscription.name)
    with bus.client.get_subscription_receiver("events", subscription.name) as receiver:
        subjects = [each.subject for each in receiver.peek_messages(10)]
    dead = [each.application_properties["DeadLetterReason"] for each in view.dead_letters()]
    return [(each.application_properties, subjects[n]) for n, each in enumerate(view.messages())], dead


@pytest.mark.slow
def test_an_action_changes_what_its_filter_matches(serve: Serve) -> None:
    rule = Rule(
        SqlFilter("user.color='red'"), "SET Quantity = 5; REMOVE priority;SET sys.Label = 'low', SET [new one] = TRUE;"
    )
    red = ServiceBusMessage("x", application_properties={"color": "red", "quantity": 10, "priority": "high"})

    found, dead = received(serve, Subscription("red", (rule,)), red, ServiceBusMessage("y"))

    assert (found, dead) == ([({"color": "red", "quantity": 5, "new one": True}, "low")], [])


@pytest.mark.slow
@pytest.mark.parametrize(("dead_letters", "reasons"), [(True, ["FilterEvaluationException"]), (False, [])])
def test_a_message_that_no_rule_can_be_decided_for_goes_where_the_subscription_says(
    serve: Serve, *, dead_letters: bool, reasons: list[str]
) -> None:
    subscription = Subscription(
        "all", (SqlFilter("sys.absent = 1"),), dead_lettering_on_filter_evaluation_exceptions=dead_letters
    )

    assert received(serve, subscription, ServiceBusMessage("x")) == ([], reasons)


@pytest.mark.parametrize("action", ["", ";", "SET a", "SET a = a", "SET a = 1 + 1", "DROP a", "SET a = newid()"])
def test_an_action_that_is_not_served_is_refused(action: str) -> None:
    with pytest.raises(ValueError, match=r"the (action|SQL)"):
        parse_action(action)
