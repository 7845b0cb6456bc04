"""What happened to each order so far: journal entries in, trails out. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from recoverable.local.aws import Died, Ended, Entry, FunctionLog, Invoked
from recoverable.local.demo.orders import ORDERS, Order

PLACED = "✔"
FAILED = "✘"
WORDLESS = "☠"
GIVEN_UP = "→ error queue"


@dataclass(frozen=True, slots=True)
class Trail:
    """The steps of one order, and whether it is at its end."""

    steps: tuple[str, ...] = ()
    placed: bool = False
    given_up: bool = False

    def then(self, *steps: str, **ends: bool) -> Trail:
        """The trail with more steps."""
        return replace(self, steps=self.steps + steps, **ends)

    @property
    def ended(self) -> bool:
        """Whether nothing more is to come."""
        return self.placed or self.given_up


@dataclass(frozen=True, slots=True)
class Story:
    """All trails, by order.

    Args:
        ids: The orders by the ids of their messages.
        trails: What happened to each.
        silent: The orders of each running invocation of which nothing was heard yet.
    """

    ids: Mapping[str, Order]
    trails: Mapping[Order, Trail]
    silent: Mapping[str, frozenset[Order]]

    @property
    def ended(self) -> bool:
        """Whether every order is placed or given up."""
        return all(trail.ended for trail in self.trails.values())


def beginning(ids: Mapping[str, Order]) -> Story:
    """The story before anything happened."""
    return Story(ids, {order: Trail() for order in ids.values()}, {})


def told(story: Story, entry: Entry) -> Story:
    """The story with one more entry."""
    match entry:
        case Invoked(request_id=request_id, records=records):
            orders = frozenset(
                order for order in ORDERS if order.body in {record["body"] for record in records}
            )
            return replace(story, silent={**story.silent, request_id: orders})
        case Ended(request_id=request_id, outcome=outcome):
            silent = story.silent.get(request_id, frozenset()) if isinstance(outcome, Died) else frozenset()
            trails = {order: story.trails[order].then(WORDLESS) for order in silent}
            return replace(story, trails={**story.trails, **trails}, silent=without(story.silent, request_id))
        case FunctionLog(line=line):
            return logged(story, parsed(line))
        case _:
            return story


def logged(story: Story, line: Mapping[str, Any]) -> Story:
    """The story with one more line of the function's log."""
    order, request_id = order_of(story, line), str(line.get("requestId"))
    if order is None:
        return story
    silent = story.silent.get(request_id, frozenset()) - {order}
    trails = {**story.trails, order: stepped(story.trails[order], line)}
    return replace(story, trails=trails, silent={**story.silent, request_id: silent})


def stepped(trail: Trail, line: Mapping[str, Any]) -> Trail:
    """The trail with the step that a log line tells."""
    wordless = line.get("errorType") == "UnreportedFailure"
    failed = () if wordless else (FAILED,)
    match line.get("logger"):
        case "shop":
            return trail.then(PLACED, placed=True)
        case "recoverable.immediate_retry":
            return trail.then(*failed)
        case "recoverable.delayed_retry":
            return trail.then(*failed, f"⏱ {line.get('delay_seconds', 0):g}s")
        case "recoverable.move_to_error":
            return trail.then(*failed, GIVEN_UP, given_up=True)
        case _:
            return trail


def order_of(story: Story, line: Mapping[str, Any]) -> Order | None:
    """The order that a log line is about, if it is about one."""
    if line.get("logger") == "shop":
        placed = [
            order for order in ORDERS if str(line.get("message", "")).startswith(f"order {number_of(order)} ")
        ]
        return placed[0] if placed else None
    return story.ids.get(str(line.get("message_id")))


def number_of(order: Order) -> object:
    """The shop's number of an order; none for one that cannot be read."""
    content = parsed(order.body)
    return content.get("id")


def parsed(text: str) -> Mapping[str, Any]:
    """The text as a JSON object; an empty one for whatever else it is."""
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def without(silent: Mapping[str, frozenset[Order]], request_id: str) -> Mapping[str, frozenset[Order]]:
    """The invocations that still run."""
    return {running: orders for running, orders in silent.items() if running != request_id}
