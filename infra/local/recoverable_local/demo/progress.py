"""Record what happened to each order, from the events of either cloud's host. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

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
        action: What it decided, as `Facts.action` has it; "complete" where the order is placed.
        delay: The delay until the delayed retry, in seconds.
        stored: True if the delay is longer than the broker may delay it here, so that the order is stored in a table.
        attempted: True if the handler ran; it does not run when unreported deliveries have used up the round.
    """

    order: Order
    action: str
    delay: float = 0
    stored: bool = False
    attempted: bool = True


@dataclass(frozen=True, slots=True)
class InvocationEnded:
    """An invocation has ended; `died` is True if its process ended."""

    invocation: str
    died: bool


Event = InvocationStarted | OrderDecided | InvocationEnded


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
    """Return the history with the steps of a decision."""
    failed = (FAILED,) if decided.attempted else ()
    match decided.action:
        case "complete":
            return history.then(PLACED, placed=True)
        case "immediate_retry":
            return history.then(*failed)
        case "delayed_retry":
            return history.then(*failed, f"⏱ {round(decided.delay, 1):g}s{STORED if decided.stored else ''}")
        case "move_to_error":
            return history.then(*failed, MOVED_TO_ERROR, moved_to_error=True)
        case _:
            return history
