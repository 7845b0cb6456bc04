"""Check that each order ended where it must, and that the placed ones, and no others, sent a message."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from recoverable.extensions._metrics import COUNTERS
from recoverable_local.demo.orders import ORDERS, Order, parse_object
from recoverable_local.demo.progress import Progress

EXCEPTION_TYPE = "NServiceBus.ExceptionInfo.ExceptionType"


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """A message in the error queue.

    Args:
        body: Its text.
        headers: Its headers, including the fault headers.
    """

    body: str
    headers: Mapping[str, Any]

    @property
    def exception_type(self) -> str:
        """Return the exception type for which it was moved there."""
        return str(self.headers.get(EXCEPTION_TYPE, "without a reason"))


def report_result(progress: Progress, found: Sequence[ErrorMessage], console: Console) -> int:
    """Print each order that did not end where it must, or a summary. Return 1 if there is such an order, else 0."""
    errors = {message.body: message.exception_type for message in found}
    wrong = [order for order in ORDERS if not ended_as_expected(order, progress, errors)]
    for order in wrong:
        expected, actual = order.expected_error or "placed", errors.get(order.body, "not in the error queue")
        console.print(f"[bold red]{order.name}: must be {expected}, but is {actual}")
    if not wrong:
        count = f"{len(ORDERS)} orders sent, {len(ORDERS) - len(errors)} placed, {len(errors)} in the error queue"
        console.print(f"[bold green]{count}, none lost.")
    return 1 if wrong else 0


def report_counters(counts: Mapping[str, int], console: Console) -> None:
    """Print the counters that are not 0, in the order of the list of metrics."""
    shown = [f"{metric.name} {counts[metric.name]}" for metric in COUNTERS if counts.get(metric.name)]
    console.print(f"Counters of this run: {', '.join(shown) or 'all 0'}.", soft_wrap=True)


def ended_as_expected(order: Order, progress: Progress, errors: Mapping[str, str]) -> bool:
    """True if an order is placed, or is in the error queue with the expected exception type, as it must be."""
    if order.expected_error is None:
        return progress.orders[order].placed and order.body not in errors
    return errors.get(order.body) == order.expected_error


def report_outgoing(progress: Progress, bodies: Collection[str], console: Console) -> int:
    """Print of which orders the shop sent a message. Return 1 if these are not the placed ones, else 0.

    A process that dies between sending and completing sends again, so there can be more messages than orders.

    Args:
        progress: The progress of the orders.
        bodies: The bodies of the messages in the queue that the shop sends to.
        console: Where it is printed.
    """
    sent = {parse_object(body).get("order") for body in bodies}
    placed = {parse_object(order.body).get("id") for order, history in progress.orders.items() if history.placed}
    if sent != placed:
        console.print(f"[bold red]orders-placed must have messages of the orders {placed}, but has them of {sent}.")
        return 1
    count = f"orders-placed: {len(bodies)} messages, of the {len(placed)} placed orders"
    console.print(f"[bold green]{count}; failed attempts sent none.")
    return 0
