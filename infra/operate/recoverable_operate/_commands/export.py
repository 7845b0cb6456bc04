"""Write messages of an error queue as JSON lines, each with body, headers and attributes; they stay in the queue.

Examples:
  recoverable errors export --queue shop-orders-error > failed.jsonl
  recoverable errors export --queue shop-orders-error --group 5e1c1f3b --file failed.jsonl
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from typing import IO

from recoverable_operate._commands.arguments import add_filter, add_queue, filter_of
from recoverable_operate._commands.display import finish_look, watched
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate.errors import OperateError, Plan, matching
from recoverable_operate.errors._exchange import line_of
from recoverable_operate.errors._sweep import lacks_copy


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_queue(parser)
    add_filter(parser)
    parser.add_argument("--file", metavar="FILE", help="a new file, which only you can read (default: standard output)")


def run(arguments: argparse.Namespace) -> int:
    """Export the messages. Return 0; 1 when not all could be looked at; 3 when none matches."""
    return run_with_queue(arguments, lambda session: export(session, arguments))


def export(session: Session, arguments: argparse.Namespace) -> int:
    """Write each message that the filter chooses."""
    plan = Plan()
    file = new_file(arguments.file) if arguments.file else sys.stdout
    with nullcontext() if file.isatty() else watched(session, plan):
        for message in matching(session.queue, filter_of(arguments), arguments.limit, plan):
            file.write(line_of(message, session.queue))
            lacks_copy(message, plan)
    file.flush()
    if arguments.file:
        file.close()
    return finish_look(session, plan)


def new_file(path: str) -> IO[str]:
    """Open a file that is not there yet, and that only its owner can read: bodies may be secret.

    Raises:
        OperateError: it cannot be made.
    """
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except OSError as error:
        raise OperateError(f"{path} cannot be made: {error.strerror}; name a new file") from None
