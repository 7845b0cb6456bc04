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
class OrderLogged:
    """The function logged the result of an attempt on an order.

    Args:
        order: The order.
        logger: The logger's name: the shop's when the order is placed, else one of the retry log.
        delay: The delay until the delayed retry, in seconds.
        stored: True if the delay is longer than the broker may delay it here, so that the order is stored in a table.
        attempted: True if the handler ran; it does not run when unreported deliveries have used up the round.
    """

    order: Order
    logger: str
    delay: float = 0
    stored: bool = False
    attempted: bool = True


@dataclass(frozen=True, slots=True)
class InvocationEnded:
    """An invocation has ended; `died` is True if its process ended."""

    invocation: str
    died: bool


Event = InvocationStarted | OrderLogged | InvocationEnded


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
        unlogged: The orders of each running invocation about which nothing was logged yet.
    """

    orders: Mapping[Order, OrderHistory]
    unlogged: Mapping[str, frozenset[Order]]


def no_progress(orders: Iterable[Order]) -> Progress:
    """Return the progress before the first event."""
    return Progress({order: OrderHistory() for order in orders}, {})


def add_event(progress: Progress, event: Event) -> Progress:
    """Return the progress after one more event."""
    match event:
        case InvocationStarted(invocation, orders):
            return replace(progress, unlogged={**progress.unlogged, invocation: orders})
        case OrderLogged(order):
            unlogged = {running: orders - {order} for running, orders in progress.unlogged.items()}
            return Progress({**progress.orders, order: add_logged_step(progress.orders[order], event)}, unlogged)
        case InvocationEnded(invocation, died):
            unreported = progress.unlogged.get(invocation, frozenset()) if died else ()
            return end_invocation(progress, invocation, unreported=unreported)
        case _:
            assert_never(event)


def end_invocation(progress: Progress, invocation: str, *, unreported: Iterable[Order]) -> Progress:
    """Remove an ended invocation, and add a step to the orders whose delivery it did not report."""
    changed = {order: progress.orders[order].then(UNREPORTED) for order in unreported}
    unlogged = {running: orders for running, orders in progress.unlogged.items() if running != invocation}
    return Progress({**progress.orders, **changed}, unlogged)


def add_logged_step(history: OrderHistory, logged: OrderLogged) -> OrderHistory:
    """Return the history with the step of a log entry."""
    failed = (FAILED,) if logged.attempted else ()
    match logged.logger:
        case "shop":
            return history.then(PLACED, placed=True)
        case "recoverable.immediate_retry":
            return history.then(*failed)
        case "recoverable.delayed_retry":
            return history.then(*failed, f"⏱ {logged.delay:g}s{STORED if logged.stored else ''}")
        case "recoverable.move_to_error":
            return history.then(*failed, MOVED_TO_ERROR, moved_to_error=True)
        case _:
            return history
