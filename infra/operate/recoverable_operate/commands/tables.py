"""Show messages, groups and one message as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rich.table import Table

from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable_operate.commands.terminal import printable
from recoverable_operate.failed import ACTIVE, FailedMessage
from recoverable_operate.groups import Tally, group_of
from recoverable_operate.redrive import name_of

MOST_TEXT = 200
"""Characters of a text in a table."""


def message_table(messages: Iterable[FailedMessage]) -> Table:
    """Build the table of messages: narrow, so that an id stays in one line."""
    table = plain_table("failed at", "group", "message")
    for each in messages:
        where = f" at {name_of(each.failed_queue)}" if each.failed_queue else ""
        state = "" if each.state == ACTIVE else f" ({each.state})"
        lines = f"{shortened(each.id + where + state)}\n{shortened(summary(each))}"
        table.add_row(time_text(each.failed_at), group_of(each).id, lines)
    return table


def summary(message: FailedMessage) -> str:
    """Return what failed, in one line."""
    group = group_of(message)
    text = message.headers.get(EXCEPTION_MESSAGE)
    return f"{group.kind}: {text}" if text and not message.problem else group.title


def group_table(tallies: Iterable[Tally]) -> Table:
    """Build the table of groups, the largest first."""
    table = plain_table("group", "messages", "last failed at", "what failed")
    for each in sorted(tallies, key=lambda tally: (-tally.count, tally.group.title)):
        queues = ", ".join(sorted(map(name_of, each.queues)))
        what = f"{shortened(each.group.title)}\n{shortened(f'at {queues}')}" if queues else shortened(each.group.title)
        table.add_row(each.group.id, str(each.count), time_text(each.last), what)
    return table


def plain_table(*columns: str) -> Table:
    """Return a table without lines, which can be copied from."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True, overflow="fold")
    table.add_column(columns[-1], overflow="fold", ratio=1)
    return table


def shortened(text: str) -> str:
    """Return the text in one line of a length that a table can have."""
    return printable(text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…")


def time_text(moment: datetime | None) -> str:
    """Return the time, to the second, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment else "–"


def message_data(message: FailedMessage) -> dict[str, Any]:
    """Return a message as a line of JSON, without its body."""
    group = group_of(message)
    return {
        "id": message.id,
        "brokerId": message.broker_id,
        "group": group.id,
        "exceptionType": message.exception_type,
        "exceptionMessage": message.headers.get(EXCEPTION_MESSAGE),
        "failedQueue": message.failed_queue,
        "failedAt": message.failed_at.isoformat() if message.failed_at else None,
        "attempts": message.attempts,
        "redrives": message.redrives,
        "groupId": message.group_id,
        "receives": message.receives,
        "state": message.state,
        "died": message.died,
        "problem": message.problem,
    }


def group_data(tally: Tally) -> dict[str, Any]:
    """Return a group as a line of JSON."""
    return {
        "group": tally.group.id,
        "messages": tally.count,
        "kind": tally.group.kind,
        "frame": tally.group.frame,
        "first": tally.first.isoformat() if tally.first else None,
        "last": tally.last.isoformat() if tally.last else None,
        "queues": sorted(tally.queues),
    }
