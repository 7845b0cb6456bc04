"""Delete messages of an error queue: those that are shown, after they are exported to a file.

On a terminal you type the name of the place or queue; elsewhere --confirm NAME carries it out. Messages that arrive meanwhile stay.

Examples:
  recoverable errors purge --queue shop-orders-error --type CardDeclined
  recoverable errors purge --queue shop-orders-error --until 2d --confirm shop-orders-error
"""

from __future__ import annotations

import argparse
import os
from typing import IO

from recoverable_operate._commands.arguments import (
    add_confirm,
    add_filter,
    add_max_delivery_count,
    add_queue,
    filter_of,
)
from recoverable_operate._commands.display import show_plan, watched
from recoverable_operate._commands.export import new_file
from recoverable_operate._commands.retry import agreed
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate._commands.terminal import DONE, NOTHING, PARTLY, messages
from recoverable_operate.errors import FailedMessage, Plan
from recoverable_operate.errors._exchange import line_of
from recoverable_operate.errors._redrive import name_of
from recoverable_operate.errors._sweep import plan_purge


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_queue(parser, yes="does not answer here; --confirm NAME does")
    add_filter(parser)
    add_max_delivery_count(parser)
    add_confirm(parser)
    parser.add_argument("--file", metavar="FILE", help="the file to export to (default: purged-QUEUE-TIME.jsonl here)")


def run(arguments: argparse.Namespace) -> int:
    """Delete the messages. Return the exit status."""
    return run_with_queue(arguments, lambda session: purge(session, arguments))


def purge(session: Session, arguments: argparse.Namespace) -> int:
    """Make the plan, show it, ask for the name of the place or queue, and carry it out."""
    plan, name = Plan(), name_of(session.queue.address)
    with watched(session, plan):
        plan_purge(session.queue, filter_of(arguments), arguments.limit, plan)
    show_plan(session, plan, "delete")
    if session.stop.requested or not plan.chosen:
        return NOTHING
    if (status := agreed(session, arguments, f"Delete {messages(plan.chosen)}?", by_name=True)) is not None:
        return status
    path = arguments.file or f"purged-{name.replace('/', '-')}-{session.clock.now():%Y%m%dT%H%M%S}.jsonl"
    with new_file(path) as file:
        deleted, failed = delete_chosen(session, file)
    session.terminal.show(f"Deleted {deleted}, after they were written to {path}.")
    for why, count in failed.items():
        session.terminal.show(f"Still here: {count} ({why}).")
    return DONE if deleted == plan.chosen and plan.whole else PARTLY


def delete_chosen(session: Session, file: IO[str]) -> tuple[int, dict[str, int]]:
    """Write each ten to the file, then delete them. Return how many are deleted, and how many are not, by the reason."""
    deleted, failed = 0, dict[str, int]()
    for _, taken in session.queue.take():
        if session.stop.requested:
            break
        write_safely(file, session, taken)
        refused = session.queue.delete(taken)
        deleted += len(taken) - len(refused)
        for why in refused.values():
            failed[why] = failed.get(why, 0) + 1
        session.queue.keep()
    if missed := session.queue.missed():
        failed[missed] = failed.get(missed, 0) + 1
    return deleted, failed


def write_safely(file: IO[str], session: Session, taken: list[FailedMessage]) -> None:
    """Write the messages, and wait until the disk has them: next they are deleted."""
    file.writelines(line_of(each, session.queue, deleted=True) for each in taken)
    file.flush()
    os.fsync(file.fileno())
