"""Whether each order ended where it must: the trails and what lies in the error queue in, exit status out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from recoverable_local.demo.orders import ORDERS, Order
from recoverable_local.demo.story import Story

EXCEPTION_TYPE = "NServiceBus.ExceptionInfo.ExceptionType"


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A message in the error queue.

    Args:
        body: Its text.
        headers: What was written on it when it was given up.
    """

    body: str
    headers: Mapping[str, Any]

    @property
    def exception_type(self) -> str:
        """Why it lies there."""
        return str(self.headers.get(EXCEPTION_TYPE, "without a reason"))


def judge(story: Story, found: Sequence[GivenUp], console: Console) -> int:
    """Say where orders are and where they must be; 1 when one is lost or elsewhere, else 0."""
    lies = {message.body: message.exception_type for message in found}
    wrong = [order for order in ORDERS if not is_right(order, story, lies)]
    for order in wrong:
        must, lie = order.ends or "placed", lies.get(order.body, "not in the error queue")
        console.print(f"[bold red]{order.name}: must be {must}, but is {lie}")
    if not wrong:
        count = f"{len(ORDERS)} orders sent, {len(ORDERS) - len(lies)} placed, {len(lies)} in the error queue"
        console.print(f"[bold green]{count}, none lost.")
    return 1 if wrong else 0


def is_right(order: Order, story: Story, lies: Mapping[str, str]) -> bool:
    """Whether an order that must be placed is, and one that must be given up lies in the error queue, for the right reason."""
    if order.ends is None:
        return story.trails[order].placed and order.body not in lies
    return lies.get(order.body) == order.ends
