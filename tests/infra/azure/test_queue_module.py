"""queue.bicep, the module for a further queue: it deploys for its queue what main.bicep deploys for orders."""

from __future__ import annotations

from typing import Any

import pytest

from infra.azure.bicep import ROOT, Deployment
from infra.azure.bicep_functions import Refused
from infra.azure.bicep_names import names_declared, names_used
from infra.azure.test_alerts import watched
from infra.azure.test_permissions import NEEDED, ROLES

SOURCE = (ROOT / "infra" / "azure" / "queue.bicep").read_text()
ORDERS: dict[str, Any] = {"namespaceName": "ns", "queueName": "orders", "principalId": "me"}
MAIN = Deployment()
METRICS, ASSIGNMENTS = "Microsoft.Insights/metricAlerts", "Microsoft.Authorization/roleAssignments"
FOR_EVER = "P10675199DT2H48M5.4775807S"
SAME = {"ordersQueue": "theQueue", "errorQueue": "errorQueue", "ordersSubscription": "subscription"}
"""Resources of main.bicep, and their names here."""


def module(**parameters: Any) -> Deployment:
    """Return what the module deploys for the queue of orders."""
    return Deployment({**ORDERS, "topicName": "shop-events", **parameters}, SOURCE)


@pytest.mark.parametrize(("theirs", "ours"), SAME.items())
@pytest.mark.parametrize("largest", [None, 2048], ids=["Standard", "Premium"])
def test_it_deploys_what_main_deploys(theirs: str, ours: str, largest: int | None) -> None:
    premium = {"serviceBusTier": "Premium", "maxMessageKilobytes": largest} if largest else {}
    found = dict(module(maxMessageKilobytes=largest or 0).properties(ours))
    found.pop("requiresSession", None)

    assert found == Deployment(premium).properties(theirs)


def test_its_error_queue_is_called_after_the_queue() -> None:
    assert module().config("errorQueue")["name"] == module().outputs["errorQueueName"] == "orders-error"


@pytest.mark.parametrize("sessions", [True, False])
def test_a_queue_has_sessions_if_it_is_asked_for(*, sessions: bool) -> None:
    assert module(sessions=sessions).properties("theQueue")["requiresSession"] is sessions


@pytest.mark.parametrize(
    ("parameters", "lives"),
    [({}, FOR_EVER), ({"sessions": True}, "P4D"), ({"sessions": True, "sessionTimeToLive": "P1D"}, "P1D")],
)
def test_a_message_of_a_session_does_not_wait_for_ever(parameters: dict[str, Any], lives: str) -> None:
    queue = module(**parameters).properties("theQueue")

    assert (queue["defaultMessageTimeToLive"], queue["deadLetteringOnMessageExpiration"]) == (lives, True)


def test_the_functions_identity_may_do_what_it_may_on_the_queues_of_main() -> None:
    assigned = module().of_type(ASSIGNMENTS).values()
    given = {
        (ROLES[config["properties"]["roleDefinitionId"].rsplit("/", 1)[1]], config["scope"]) for config in assigned
    }
    holders = {(config["properties"]["principalId"], config["properties"]["principalType"]) for config in assigned}

    assert {(role, scope.replace("theQueue", "ordersQueue")) for role, scope in given} == {
        (role, scope) for role, scope in NEEDED if scope in SAME
    }
    assert (holders, len({config["name"] for config in assigned})) == ({("me", "ServicePrincipal")}, 3)


def test_its_alerts_watch_what_those_of_main_watch() -> None:
    ours, theirs = module().of_type(METRICS), MAIN.of_type(METRICS)

    assert {name: watched(alert["properties"]) for name, alert in ours.items()} == {
        name.replace("ordersWait", "wait"): watched(alert["properties"]) for name, alert in theirs.items()
    }
    assert all(alert["properties"]["enabled"] for alert in ours.values())


@pytest.mark.parametrize(
    ("group", "actions", "said"),
    [("", [], True), ("/the/group", [{"actionGroupId": "/the/group"}], False)],
    ids=["none", "one"],
)
def test_its_alerts_say_when_they_reach_nobody(group: str, actions: list[Any], *, said: bool) -> None:
    alerts = [alert["properties"] for alert in module(actionGroupId=group).of_type(METRICS).values()]

    assert [alert["actions"] for alert in alerts] == [actions] * 3
    assert [" NOBODY IS NOTIFIED: " in alert["description"] for alert in alerts] == [said] * 3


def test_without_a_topic_there_is_no_subscription() -> None:
    without = module(topicName="")

    assert module().resources.keys() - without.resources.keys() == {"topic", "subscription"}


@pytest.mark.parametrize("name", ["/orders", "-orders", "orders-", "orders?", "team/orders", "a b"])
def test_a_name_that_no_queue_may_have_is_refused(name: str) -> None:
    with pytest.raises(Refused, match=r"^queueName: write letters, digits, and between them dots"):
        module(queueName=name)


@pytest.mark.parametrize(
    ("topic", "length", "taken"), [("t", 50, True), ("t", 51, False), ("", 51, True), ("", 254, True)]
)
def test_a_name_that_no_subscription_may_have_is_refused_where_there_is_one(
    topic: str, length: int, *, taken: bool
) -> None:
    name = "q" * length

    if taken:
        found = module(queueName=name, topicName=topic)
        assert found.config("theQueue")["name"] == name
        assert not topic or found.config("subscription")["name"] == name
    else:
        with pytest.raises(Refused, match=r"^queueName: the subscription of topicName has its name, of 50 characters"):
            module(queueName=name, topicName=topic)


@pytest.mark.parametrize("name", ["Orders", "2nd", "orders.v2_x-1"])
def test_a_name_that_a_queue_may_have_is_taken(name: str) -> None:
    assert module(queueName=name).config("theQueue")["name"] == name


def test_names_lead_somewhere_and_each_is_used() -> None:
    unused = {"subscription", "mayReceive", "maySend", "maySendErrors", *module().of_type(METRICS)}

    assert (names_used(SOURCE) - names_declared(SOURCE), names_declared(SOURCE) - names_used(SOURCE)) == (set(), unused)
