"""What the README shows runs as it stands, one block after the other, and does what the README says it does."""

from __future__ import annotations

import sys
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from docs.pages import blocks
from recoverable_local.testing import SqsWorld

PAGE = "../README.md"
HANDLER, *FURTHER = blocks(PAGE, "python")
TEST = next(block for block in FURTHER if "def test_" in block)

SHOP = """
class CardDeclined(Exception): ...
class BankUnreachable(Exception): ...
class OrderExpired(Exception): ...

def charge(card):
    match card:
        case "declined":
            raise CardDeclined("do not honour")
        case "no-bank":
            raise BankUnreachable("no answer")
"""


def module(monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> dict[str, Any]:
    """A module of the reader's own; gives its names."""
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(source, PAGE, "exec"), vars(made))  # our own page
    return vars(made)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a reader has who has written the handler into `orders.py`, beside a shop of their own."""
    shop = module(monkeypatch, "shop", SHOP)
    return {**shop, **module(monkeypatch, "orders", HANDLER)}


@pytest.mark.parametrize("block", FURTHER, ids=[block.strip().splitlines()[0] for block in FURTHER])
def test_each_block_runs_after_the_handlers(reader: dict[str, Any], block: str) -> None:
    exec(compile(block, PAGE, "exec"), dict(reader))


def test_the_test_that_it_shows_passes(reader: dict[str, Any], sqs_world: SqsWorld) -> None:
    names = dict(reader)
    exec(compile(TEST, PAGE, "exec"), names)

    names["test_card_declined_goes_to_error_queue"](sqs_world)


def test_the_ladder_is_as_its_picture_has_it(reader: dict[str, Any], sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    sqs_world.serve("orders", reader["handler"])
    order = sqs_world.send("orders", {"card": "no-bank"})
    sqs_world.run()

    attempts = [event for event in sqs_world.timeline(order) if event.what == "attempted"]
    assert (len(attempts), sqs_world.now - began) == (24, timedelta(seconds=10 + 20 + 30))
    assert [message.id for message in sqs_world.queue("orders-error")] == [order]
