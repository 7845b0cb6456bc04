"""Who is notified of what: the alerts of main.bicep."""

from __future__ import annotations

from typing import Any

import pytest

from infra.azure.bicep import Deployment

KIND = "Microsoft.Insights/metricAlerts"
ALERTS = {name: config["properties"] for name, config in Deployment().of_type(KIND).items()}


def watched(alert: dict[str, Any]) -> tuple[Any, ...]:
    """Return what an alert watches: metric, queues or topics, aggregation, window, and threshold."""
    [criterion] = alert["criteria"]["allOf"]
    [dimension] = criterion["dimensions"]
    assert (dimension["name"], dimension["operator"], criterion["criterionType"]) == (
        "EntityName", "Include", "StaticThresholdCriterion",
    )  # fmt: skip
    rings = f"{criterion['timeAggregation']} {criterion['operator']} {criterion['threshold']}"
    return criterion["metricName"], dimension["values"], alert["windowSize"], rings


def test_the_alerts_watch_what_is_given_up_what_died_twice_and_what_waits() -> None:
    """Metrics and their dimension: Microsoft, "Azure Service Bus monitoring data reference"."""
    assert {name: watched(alert) for name, alert in ALERTS.items()} == {
        "errorQueueDepthAlert": ("ActiveMessages", ["orders-error"], "PT5M", "Maximum GreaterThan 0"),
        "deadLettersAlert": (
            "DeadletteredMessages",
            ["orders", "orders-error", "shop-events"],
            "PT5M",
            "Maximum GreaterThan 0",
        ),
        "ordersWaitAlert": ("ActiveMessages", ["orders"], "PT30M", "Minimum GreaterThan 0"),
    }


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_is_on_and_looks_at_the_namespace(name: str) -> None:
    alert = ALERTS[name]

    assert (alert["enabled"], alert["scopes"], Deployment().config(name)["location"]) == (
        True, ["<serviceBus.id>"], "global",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("group", "actions"), [("", []), ("/the/group", [{"actionGroupId": "/the/group"}])], ids=["none", "one"]
)
def test_the_alerts_reach_the_action_group_if_there_is_one(group: str, actions: list[Any]) -> None:
    alerts = Deployment({"actionGroupId": group}).of_type(KIND).values()

    assert [alert["properties"]["actions"] for alert in alerts] == [actions] * 3


@pytest.mark.parametrize(
    ("group", "ends", "notified"),
    [("", " NOBODY IS NOTIFIED: deploy again with actionGroupId.", "nobody"), ("/the/group", "", "/the/group")],
    ids=["none", "one"],
)
def test_an_alert_that_reaches_nobody_says_so(group: str, ends: str, notified: str) -> None:
    deployed = Deployment({"actionGroupId": group, "rateLimitAfter": 50})
    alerts = deployed.of_type(KIND) | deployed.of_type("Microsoft.Insights/scheduledQueryRules")
    without = Deployment({"actionGroupId": "/any", "rateLimitAfter": 50})

    assert {name: alert["properties"]["description"] for name, alert in alerts.items()} == {
        name: without.properties(name)["description"] + ends for name in alerts
    }
    assert deployed.outputs["alertsNotify"] == notified


def test_without_a_topic_none_is_watched() -> None:
    alert = Deployment({"topicName": ""}).properties("deadLettersAlert")

    assert watched(alert)[1] == ["orders", "orders-error"]
