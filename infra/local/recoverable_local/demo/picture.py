"""The story as a picture for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from recoverable_local.demo.story import FAILED, GIVEN_UP, PLACED, WORDLESS, Story
from recoverable_local.demo.verdict import GivenUp

INFO = "NServiceBus.ExceptionInfo."
COLOURS = {PLACED: "bold green", FAILED: "red", WORDLESS: "bold magenta", GIVEN_UP: "yellow"}
LEGEND = f"{PLACED} placed   {FAILED} attempt failed   {WORDLESS} delivery that ended without a word   ⏱ delayed retry"


def ladder(story: Story) -> Table:
    """Each order and how far it has climbed."""
    table = Table(title="orders", caption=LEGEND, title_justify="left", caption_justify="left", min_width=100)
    table.add_column("order", no_wrap=True)
    table.add_column("what happened", ratio=1)
    for order, trail in story.trails.items():
        table.add_row(order.name, climbed(trail.steps))
    return table


def climbed(steps: Sequence[str]) -> Text:
    """The steps, each in its colour."""
    text = Text()
    for step in steps:
        text.append(f"{step} ", style=COLOURS.get(step, "cyan"))
    return text


def error_queue(name: str, messages: Sequence[GivenUp]) -> Table:
    """What lies in the error queue, and why."""
    table = Table(title=f"{name}: what lies there, and why", title_justify="left", min_width=100)
    for column in ("body", "exception", "message", "first frame"):
        table.add_column(column, overflow="fold")
    for message in messages:
        told = str(message.headers.get(f"{INFO}Message", "–"))
        table.add_row(*map(Text, (message.body, message.exception_type, told, first_frame(message))))
    return table


def first_frame(message: GivenUp) -> str:
    """Where it failed; a dash for what failed nowhere."""
    lines = str(message.headers.get(f"{INFO}StackTrace", "")).splitlines()
    frames = [line.strip() for line in lines if line.startswith("   at ")]
    return frames[0].partition(" in ")[0] if frames else "–"
