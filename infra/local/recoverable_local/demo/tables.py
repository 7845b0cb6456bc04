"""Show the progress and the error queue as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from recoverable_local.demo.progress import FAILED, MOVED_TO_ERROR, PLACED, UNREPORTED, Progress
from recoverable_local.demo.result import ErrorMessage
from recoverable_operate.errors import Tally

INFO = "NServiceBus.ExceptionInfo."
COLOURS = {PLACED: "bold green", FAILED: "red", UNREPORTED: "bold magenta", MOVED_TO_ERROR: "yellow"}
LEGEND = (
    f"{PLACED} placed   {FAILED} attempt failed   {UNREPORTED} delivery without a recorded outcome   ⏱ delayed retry"
)


def progress_table(progress: Progress) -> Table:
    """Build the table of the orders, with the steps of each."""
    table = Table(title="orders", caption=LEGEND, title_justify="left", caption_justify="left", min_width=100)
    table.add_column("order", no_wrap=True)
    table.add_column("what happened", ratio=1)
    for order, trail in progress.orders.items():
        table.add_row(order.name, format_steps(trail.steps))
    return table


def format_steps(steps: Sequence[str]) -> Text:
    """Format steps, each in its colour."""
    text = Text()
    for step in steps:
        text.append(f"{step} ", style=COLOURS.get(step, "cyan"))
    return text


def error_queue_table(name: str, messages: Sequence[ErrorMessage]) -> Table:
    """Build the table of the messages in the error queue, with their exceptions."""
    table = Table(title=f"{name}: messages in the error queue", title_justify="left", min_width=100)
    for column in ("body", "exception", "message", "first frame"):
        table.add_column(column, overflow="fold")
    for message in messages:
        text = str(message.headers.get(f"{INFO}Message", "–"))
        table.add_row(*map(Text, (message.body, message.exception_type, text, first_frame(message))))
    return table


def group_table(tallies: Iterable[Tally]) -> Table:
    """Build the table of the groups of the error queue, as `recoverable errors groups` prints it."""
    table = Table("group", "messages", "last failed at", "what failed", box=None, pad_edge=False, show_edge=False)
    for each in sorted(tallies, key=lambda tally: (-tally.count, tally.group.title)):
        queues = ", ".join(sorted(each.queues))
        last = f"{each.last:%Y-%m-%d %H:%M:%S}" if each.last else "–"
        table.add_row(
            each.group.id, str(each.count), last, Text(f"{each.group.title}\nat {queues}\nsuch as: {each.example}")
        )
    return table


def first_frame(message: ErrorMessage) -> str:
    """Return the first frame of the stack trace; a dash if there is none."""
    lines = str(message.headers.get(f"{INFO}StackTrace", "")).splitlines()
    frames = [line.strip() for line in lines if line.startswith("   at ")]
    return frames[0].partition(" in ")[0] if frames else "–"
