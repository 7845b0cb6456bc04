"""Record what happened to each order, from the events of either cloud's host. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import assert_never

from recoverable import Facts
from recoverable_local.decisions import Decided
from recoverable_local.demo.orders import Order

PLACED = "✔"
FAILED = "✘"
UNREPORTED = "☠"
STORED = " stored"
MOVED_TO_ERROR = "→ error queue"


@dataclass(frozen=True, slots=True)
class InvocationStarted:
    """The host invoked the function with orders."""

    invocation: str
    orders: frozenset[Order]


@dataclass(frozen=True, slots=True)
class OrderDecided:
    """The endpoint decided about a delivery of an order.

    Args:
        order: The order.
        facts: What it decided.
        done: True if that has been done; False where the message stays on its queue.
        stored: True if the delay is longer than the broker may delay it here, so that the order is stored in a table.
    """

    order: Order
    facts: Facts
    done: bool = True
    stored: bool = False


@dataclass(frozen=True, slots=True)
class InvocationEnded:
    """An invocation has ended; `died` is True if its process ended."""

    invocation: str
    died: bool


Event = InvocationStarted | OrderDecided | InvocationEnded


def decision_event(
    decided: Decided, ids: Mapping[str, Order], longest_delay: timedelta = timedelta.max
) -> OrderDecided | None:
    """Return the event of a decision; None if it is about no order.

    Args:
        decided: The entry of the host's journal.
        ids: The orders by the ids of their messages.
        longest_delay: A message with a longer delay is stored in a table.
    """
    order, delay = ids.get(decided.facts.message_id), decided.facts.delay or timedelta(0)
    return None if order is None else OrderDecided(order, decided.facts, decided.done, stored=delay > longest_delay)


@dataclass(frozen=True, slots=True)
class OrderHistory:
    """The steps of one order so far."""

    steps: tuple[str, ...] = ()
    placed: bool = False
    moved_to_error: bool = False

    def then(self, *steps: str, **flags: bool) -> OrderHistory:
        """Return a copy with more steps."""
        return replace(self, steps=self.steps + steps, **flags)

    @property
    def ended(self) -> bool:
        """True if the order is placed or in the error queue."""
        return self.placed or self.moved_to_error


@dataclass(frozen=True, slots=True)
class Progress:
    """The history of all orders so far.

    Args:
        orders: The history of each order.
        undecided: The orders of each running invocation about which nothing was decided yet.
    """

    orders: Mapping[Order, OrderHistory]
    undecided: Mapping[str, frozenset[Order]]


def no_progress(orders: Iterable[Order]) -> Progress:
    """Return the progress before the first event."""
    return Progress({order: OrderHistory() for order in orders}, {})


def add_event(progress: Progress, event: Event) -> Progress:
    """Return the progress after one more event."""
    match event:
        case InvocationStarted(invocation, orders):
            return replace(progress, undecided={**progress.undecided, invocation: orders})
        case OrderDecided(order):
            undecided = {running: orders - {order} for running, orders in progress.undecided.items()}
            return Progress({**progress.orders, order: add_decision(progress.orders[order], event)}, undecided)
        case InvocationEnded(invocation, died):
            unreported = progress.undecided.get(invocation, frozenset()) if died else ()
            return end_invocation(progress, invocation, unreported=unreported)
        case _:
            assert_never(event)


def end_invocation(progress: Progress, invocation: str, *, unreported: Iterable[Order]) -> Progress:
    """Remove an ended invocation, and add a step to the orders whose delivery it did not report."""
    changed = {order: progress.orders[order].then(UNREPORTED) for order in unreported}
    undecided = {running: orders for running, orders in progress.undecided.items() if running != invocation}
    return Progress({**progress.orders, **changed}, undecided)


def add_decision(history: OrderHistory, decided: OrderDecided) -> OrderHistory:
    """Return the history with the steps of a decision; one that could not be carried out leaves the message where it was."""
    facts = decided.facts
    failed = () if facts.unreported or facts.exception_type is None else (FAILED,)  # of the former no handler ran
    match facts.action if decided.done else "":
        case "complete":
            return history.then(PLACED, placed=True)
        case "delayed_retry":
            seconds = round(facts.delay.total_seconds(), 1) if facts.delay else 0
            return history.then(*failed, f"⏱ {seconds:g}s{STORED if decided.stored else ''}")
        case "move_to_error":
            return history.then(*failed, MOVED_TO_ERROR, moved_to_error=True)
        case _:
            return history.then(*failed)
