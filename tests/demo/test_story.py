"""The demo's story: journal entries in, trails out; and its verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from recoverable.local.aws import Died, Ended, Entry, FunctionLog, Invoked, Outcome, QueuedMessage, Returned
from recoverable.local.demo.command import Watcher, judge
from recoverable.local.demo.orders import ORDERS, Order
from recoverable.local.demo.story import FAILED, GIVEN_UP, PLACED, WORDLESS, Trail, beginning, told

GOOD, FLAKY, DEADLY = ORDERS[0], ORDERS[1], ORDERS[6]
IDS = {f"id-{number}": order for number, order in enumerate(ORDERS)}


def line(order: Order, logger: str, **extras: object) -> FunctionLog:
    message_id = next(message_id for message_id, sent in IDS.items() if sent == order)
    facts = {"logger": f"recoverable.{logger}", "message_id": message_id, "requestId": "r1", **extras}
    return FunctionLog("Orders", 1, json.dumps(facts))


def placed(number: int) -> FunctionLog:
    text = f"order {number} is placed"
    return FunctionLog("Orders", 1, json.dumps({"logger": "shop", "message": text, "requestId": "r1"}))


def invoked(*orders: Order) -> Invoked:
    return Invoked("Orders", "r1", 1, tuple({"body": order.body} for order in orders))


def ended(outcome: Outcome) -> Ended:
    return Ended("Orders", "r1", 1, timedelta(seconds=1), outcome, (), (), None)


def trail(order: Order, *entries: Entry) -> Trail:
    story = beginning(IDS)
    for entry in entries:
        story = told(story, entry)
    return story.trails[order]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([line(FLAKY, "immediate_retry")], Trail((FAILED,))),
        ([line(FLAKY, "delayed_retry", delay_seconds=1.0)], Trail((FAILED, "⏱ 1s"))),
        ([line(FLAKY, "move_to_error")], Trail((FAILED, GIVEN_UP), given_up=True)),
        ([line(FLAKY, "move_to_error", errorType="UnreportedFailure")], Trail((GIVEN_UP,), given_up=True)),
        ([placed(2)], Trail((PLACED,), placed=True)),
        ([FunctionLog("Orders", 1, "no JSON")], Trail()),
    ],
)
def test_a_log_line_is_a_step(entries: list[Entry], expected: Trail) -> None:
    assert trail(FLAKY, *entries) == expected


def test_a_death_is_a_step_of_those_of_which_nothing_was_heard() -> None:
    entries: list[Entry] = [invoked(GOOD, DEADLY), placed(1), ended(Died(1))]

    assert (trail(GOOD, *entries), trail(DEADLY, *entries)) == (
        Trail((PLACED,), placed=True),
        Trail((WORDLESS,)),
    )


def test_an_invocation_that_returns_is_no_death() -> None:
    assert trail(DEADLY, invoked(DEADLY), ended(Returned("{}"))) == Trail()


def error_message(order: Order) -> QueuedMessage:
    headers = json.dumps({"NServiceBus.ExceptionInfo.ExceptionType": order.ends})
    return QueuedMessage("id", order.body, {"NServiceBus.AmazonSQS.Headers": headers}, {})


def watcher_of(trails: dict[Order, Trail]) -> Watcher:
    watcher = Watcher()
    watcher.story = replace(beginning(IDS), trails=trails)
    return watcher


ALL_PLACED = {order: Trail(placed=order.ends is None) for order in ORDERS}
ALL_GIVEN_UP = [error_message(order) for order in ORDERS if order.ends]


def test_the_demo_succeeds_when_each_order_is_where_it_must_be() -> None:
    assert judge(watcher_of(ALL_PLACED), ALL_GIVEN_UP, Console(file=StringIO())) == 0


def test_the_demo_fails_when_a_message_is_missing_from_the_error_queue() -> None:
    assert judge(watcher_of(ALL_PLACED), ALL_GIVEN_UP[1:], Console(file=StringIO())) == 1


def test_the_demo_fails_when_a_good_order_was_not_placed() -> None:
    assert judge(watcher_of({**ALL_PLACED, GOOD: Trail()}), ALL_GIVEN_UP, Console(file=StringIO())) == 1
