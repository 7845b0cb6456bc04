"""List the groups of the error queue, and send one back: the end of the demo, by the code of `recoverable errors`."""

from __future__ import annotations

from functools import partial

from rich.console import Console

from recoverable_local.demo.orders import ORDERS, Order
from recoverable_local.demo.progress import Progress
from recoverable_local.demo.tables import group_table
from recoverable_operate.errors import (
    ErrorQueue,
    Filter,
    Journal,
    Plan,
    Redrive,
    Rules,
    Settings,
    Stop,
    SystemClock,
    matching,
    plan_redrive,
)

HOPELESS = next(order for order in ORDERS if order.expected_error == "shop.BankUnreachable")
"""The order that fails until it is sent back."""


def show_groups(queue: ErrorQueue, console: Console) -> None:
    """Print the groups of the error queue."""
    plan = Plan()
    for _ in matching(queue, Filter(), None, plan):
        pass
    queue.give_back()
    console.print("\n$ recoverable errors groups", style="bold")
    console.print(group_table(plan.groups.values()))


def send_group_back(queue: ErrorQueue, allowed: list[str], console: Console) -> int:
    """Send the group of the hopeless order back. Return how many messages that were."""
    console.print(f"\n$ recoverable errors retry --type {HOPELESS.expected_error}", style="bold")
    wanted = Filter(types=(str(HOPELESS.expected_error),))
    rules = Rules(queue.address, frozenset(map(queue.canonical, [*queue.sources(), *allowed])), None, queue.canonical)
    plan, look = Plan(), partial(plan_redrive, queue, wanted, None, rules)
    look(plan)
    outcome = Redrive(queue, Journal(":memory:"), Settings(), plan, clock=SystemClock(), stop=Stop()).run_groups(look)
    queue.give_back()
    return outcome.sent


def report_sent_back(sent: int, progress: Progress, console: Console, hopeless: Order = HOPELESS) -> int:
    """Print what became of the messages that were sent back. Return 0 if they are placed, else 1.

    They are more than one where a process died between sending its copy and completing its message.
    """
    placed = sent > 0 and progress.orders[hopeless].placed
    style, what = ("bold green", "and placed") if placed else ("bold red", "but not placed")
    console.print(f"[{style}]{sent} {'message' if sent == 1 else 'messages'} sent back from the error queue, {what}.")
    return 0 if placed else 1
