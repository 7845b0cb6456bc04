"""The story as a picture for the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from recoverable.local.aws import QueuedMessage
from recoverable.local.demo.story import FAILED, GIVEN_UP, PLACED, WORDLESS, Story

HEADERS = "NServiceBus.AmazonSQS.Headers"
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


def error_queue(name: str, messages: Sequence[QueuedMessage]) -> Table:
    """What lies in the error queue, and why."""
    table = Table(title=f"{name}: what lies there, and why", title_justify="left", min_width=100)
    for column in ("body", "exception", "message", "first frame"):
        table.add_column(column, overflow="fold")
    for message in messages:
        faults = headers_of(message)
        frames = [
            line.strip() for line in faults[f"{INFO}StackTrace"].splitlines() if line.startswith("   at ")
        ]
        frame = frames[0].partition(" in ")[0] if frames else "–"
        table.add_row(message.body, exception_type(message), faults[f"{INFO}Message"], frame)
    return table


def exception_type(message: QueuedMessage) -> str:
    """Why a message lies in the error queue."""
    return str(headers_of(message).get(f"{INFO}ExceptionType", "no reason given"))


def headers_of(message: QueuedMessage) -> dict[str, Any]:
    """The headers that were written when the message was given up."""
    text = message.attributes.get(HEADERS, "{}")
    headers: dict[str, Any] = json.loads(text)
    return headers
