"""What the README and the pages about the ladder and handlers show runs as it stands, and does what the README says it does."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from inspect import signature
from types import ModuleType
from typing import Any

import pytest

from docs.pages import README, ROOT, blocks, page, section
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld

HANDLER = blocks(README, "python")[0]
FURTHER = [
    (name, number)
    for name in ("use/retries.md", "use/handlers.md", "use/time-outs-and-crashes.md")
    for number in range(len(blocks(name, "python")))
]

SHOP = """
class BankUnreachable(Exception): ...
class OrderExpired(Exception): ...
"""


def module(monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> dict[str, Any]:
    """Make a module of the reader's own; return its names."""
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(source, README, "exec"), vars(made))  # our own page
    return vars(made)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give what a reader has who has written the handler into `orders.py`, beside a shop of their own."""
    module(monkeypatch, "shop", SHOP)
    return module(monkeypatch, "orders", HANDLER)


@pytest.mark.parametrize(("name", "number"), FURTHER)
def test_each_block_runs_after_the_handlers_and_those_before_it(reader: dict[str, Any], name: str, number: int) -> None:
    names = dict(reader)

    for block in blocks(name, "python")[: number + 1]:
        exec(compile(block, name, "exec"), names)


def test_the_ladder_is_as_its_picture_has_it(reader: dict[str, Any], sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    sqs_world.serve("orders", SqsEndpoint(reader["place_order"], reader["recoverability"]))
    order = sqs_world.send("orders", {"card": "no-bank"})
    sqs_world.run()

    attempts = [event for event in sqs_world.timeline(order) if event.what == "attempted"]
    assert (len(attempts), sqs_world.now - began) == (24, timedelta(seconds=10 + 20 + 30))
    assert [message.id for message in sqs_world.queue("orders-error")] == [order]


def test_the_tests_on_the_page_about_order_pass(sqs_world: SqsWorld, service_bus_world: ServiceBusWorld) -> None:
    names: dict[str, Any] = {}
    for example in blocks("use/order.md", "python"):
        exec(compile(example, "use/order.md", "exec"), names)

    names["test_an_order_waits_for_the_one_before_it_in_its_group"](sqs_world)
    names["test_an_order_waits_for_the_one_before_it_in_its_session"](service_bus_world)


def test_the_page_about_the_ladder_has_the_same_picture() -> None:
    [picture, *_], [shown, *_] = blocks(README, "text"), blocks("use/retries.md", "text")

    assert shown == picture.splitlines(keepends=True)[0]


@pytest.mark.parametrize("endpoint", [SqsEndpoint, ServiceBusEndpoint])
def test_each_setting_of_an_endpoint_is_in_its_table(endpoint: type) -> None:
    table = (
        section("use/handlers.md", "## Settings of an endpoint").split(f"| `{endpoint.__name__}` |")[1].split("\n\n")[0]
    )
    settings = {each.name for each in signature(endpoint).parameters.values() if each.kind is each.KEYWORD_ONLY}

    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == settings


def test_each_page_is_named_in_the_readme() -> None:
    named = set(re.findall(r"\]\(docs/([\w/-]+\.md)", page(README)))
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}

    assert {path.as_posix() for path in pages if path.parts[0] != "internals"} <= named
