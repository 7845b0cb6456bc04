"""Send messages that were exported back to where they failed, each line once, by the rules and the journal of `retry`.

A body that was edited in the file makes another message: it gets a new id, and Recoverable.EditOf names the old one.

Examples:
  recoverable errors import --queue shop-orders-error --file failed.jsonl
  recoverable errors import --queue shop-orders-error --file failed.jsonl --type CardDeclined --yes
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from recoverable_operate._commands.arguments import add_looking, add_sending
from recoverable_operate._commands.retry import retry
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate.errors._exchange import ExportedQueue
from recoverable_operate.errors._queue import OperateError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--file", required=True, metavar="FILE", help="what `export` or `purge` wrote")
    add_looking(parser)
    add_sending(parser)


def run(arguments: argparse.Namespace) -> int:
    """Send the messages of the file. Return the exit status."""
    return run_with_queue(arguments, lambda session: import_file(session, arguments), quietly=True)


def import_file(session: Session, arguments: argparse.Namespace) -> int:
    """Send the messages of the file.

    Raises:
        OperateError: it cannot be read.
    """
    try:
        with open(arguments.file, encoding="utf-8") as lines:
            return retry(replace(session, queue=ExportedQueue(session.queue, lines, arguments.file)), arguments)
    except (OSError, UnicodeDecodeError) as error:
        raise OperateError(f"{arguments.file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
