"""The page for those who have NServiceBus too: its handler reaches NServiceBus's endpoints, and topics are named as it says."""

from __future__ import annotations

import re
from typing import Any

from aws.nservicebus.dotnet import Sent
from docs.pages import blocks, section
from outgoing.test_with_nservicebus import RECORDED, handled, read_by_dotnet

PAGE = "peers/beside-nservicebus.md"


def sns_topic(event: str) -> str:
    """Return the topic of an event's type as NServiceBus.AmazonSQS names it (6e380847, TopicNameHelper)."""
    return "".join(each if each.isalnum() or each in "-_" else "-" for each in event)


def test_the_handler_of_the_page_reaches_each_endpoint_as_what_it_is() -> None:
    names: dict[str, Any] = {}
    exec(blocks(PAGE, "python")[0], names)  # our own page

    world = handled(Sent(**RECORDED["wrapped"][2]), names["place_order"])

    found = {queue: read_by_dotnet(world, queue) for queue in ("net", "shipping", "billing")}
    assert {queue: each.body for queue, each in found.items()} == dict.fromkeys(found, b'{"OrderId": 3}')
    of_each = ("NServiceBus.MessageIntent", "NServiceBus.EnclosedMessageTypes")
    assert {queue: tuple(each.headers[name] for name in of_each) for queue, each in found.items()} == {
        "net": ("Reply", "Shop.OrderAccepted"),
        "shipping": ("Send", "Shop.ShipOrder"),
        "billing": ("Publish", "Shop.OrderPlaced"),
    }


def test_the_topics_of_the_page_are_named_as_nservicebus_names_them() -> None:
    rows = re.findall(r"^\| ([^|]+?) \| `([^`]+)`", section(PAGE, "### Names of topics"), re.MULTILINE)
    event = "Shop.Orders.OrderPlaced"

    assert [topic for _, topic in rows] == [sns_topic(event), event, "bundle-1"]
    assert sns_topic("Shop.OrderPlaced") in blocks(PAGE, "python")[0]
