"""Test that a namespace is made from a config file in the format of Microsoft's emulator."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recoverable_local.service_bus import CorrelationFilter, Queue, Rule, SqlFilter, Subscription, Topic, TrueFilter
from recoverable_local.service_bus.config_file import read_config
from recoverable_operate._cli import main

ORDERS = {
    "Name": "orders",
    "Properties": {
        "DeadLetteringOnMessageExpiration": True,
        "DefaultMessageTimeToLive": "PT1H",
        "DuplicateDetectionHistoryTimeWindow": "PT20S",
        "ForwardDeadLetteredMessagesTo": "error",
        "ForwardTo": "",
        "LockDuration": "PT1M",
        "MaxDeliveryCount": 3,
        "RequiresDuplicateDetection": True,
        "RequiresSession": True,
    },
}
RULE = {
    "Name": "paid",
    "Properties": {
        "FilterType": "Correlation",
        "CorrelationFilter": {"Label": "paid", "To": "", "Properties": {"country": "de"}},
    },
}
EVENTS = {
    "Name": "events",
    "Properties": {"DuplicateDetectionHistoryTimeWindow": "PT20S", "RequiresDuplicateDetection": False},
    "Subscriptions": [{"Name": "audit", "Properties": {"MaxDeliveryCount": 5}, "Rules": [RULE]}, {"Name": "all"}],
}


def written(folder: Path, **entities: Any) -> Path:
    """Write a config file with these entities."""
    file = folder / "Config.json"
    file.write_text(json.dumps({"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", **entities}]}}))
    return file


def test_queues_topics_subscriptions_and_rules_are_those_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, Queues=[ORDERS, {"Name": "error"}], Topics=[EVENTS])

    assert read_config(file) == (
        [
            Queue(
                "orders",
                lock_duration=timedelta(minutes=1),
                max_delivery_count=3,
                default_message_time_to_live=timedelta(hours=1),
                dead_lettering_on_message_expiration=True,
                requires_session=True,
                duplicate_detection_window=timedelta(seconds=20),
                forward_dead_lettered_messages_to="error",
            ),
            Queue("error"),
        ],
        [
            Topic(
                "events",
                (
                    Subscription(
                        "audit",
                        (CorrelationFilter(subject="paid", properties={"country": "de"}),),
                        max_delivery_count=5,
                    ),
                    Subscription("all", (TrueFilter(),)),
                ),
            )
        ],
    )


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ({"Name": "a", "Properties": {"LockDuration": "1 minute"}}, "'1 minute' is no duration such as PT1M"),
        ({"Name": "a", "Properties": {"Lock": "PT1M"}}, "'a' has the property 'Lock'; write some of LockDuration,"),
        ({"Name": "a/"}, "the queue's name is 'a/'"),
        ({"Names": "a"}, "is no config file of the Service Bus emulator (KeyError: 'Name')"),
        ("a", "is no config file of the Service Bus emulator"),
    ],
)
def test_a_file_that_cannot_be_served_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], queue: object, said: str
) -> None:
    status = main(["local", "service-bus", "--port", "0", "--config", str(written(tmp_path, Queues=[queue]))])

    assert (status, said in capsys.readouterr().err) == (2, True)


def subscribed(rule: str) -> str:
    """Return a config file with a rule, and with comments as Microsoft's own has them."""
    return f"""// {{ all entities }}
{{"UserConfig": {{"Namespaces": [{{"Name": "ns", /* one "topic" */ "Queues": [], "Topics": [{{"Name": "events", "Subscriptions": [
  {{"Name": "audit", "Rules": [{{"Name": "big", "Properties": {rule}}}]}} // the only one
]}}]}}]}}}}"""


def test_a_rule_may_be_of_sql_with_an_action(tmp_path: Path) -> None:
    file = tmp_path / "Config.json"
    rule = {
        "FilterType": "Sql",
        "SqlFilter": {"SqlExpression": "url LIKE 'http://%'"},
        "Action": {"SqlExpression": "SET sys.To = 'Entity'"},
    }
    file.write_text(subscribed(json.dumps(rule)))

    _, topics = read_config(file)

    rules = (Rule(SqlFilter("url LIKE 'http://%'"), "SET sys.To = 'Entity'"),)
    assert topics == [Topic("events", (Subscription("audit", rules),))]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"FilterType": "Sql", "SqlFilter": {"SqlExpression": "total > @least"}}, "the parameter @least"),
        ({"FilterType": "None"}, "it has a filter of type 'None'; write 'Sql' or 'Correlation'"),
    ],
)
def test_a_filter_that_is_not_served_is_refused(tmp_path: Path, rule: dict[str, object], said: str) -> None:
    file = tmp_path / "Config.json"
    file.write_text(subscribed(json.dumps(rule)))

    with pytest.raises(ValueError, match="the rule 'big': ") as refused:
        read_config(file)

    assert said in str(refused.value)
