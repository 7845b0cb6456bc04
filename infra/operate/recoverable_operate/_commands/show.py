"""Show messages of an error queue whole: the way it went, where its log is, headers, stack trace and body.

Examples:
  recoverable errors show --queue shop-orders-error --id 7f9c2ba4-1f51-4b5b-a6a1-2f2a1c8c2b1e
  recoverable errors show --queue shop-orders-error --group 5e1c1f3b --limit 1
"""

from __future__ import annotations

import argparse
import base64

from recoverable_operate._commands.arguments import add_looking, filter_of
from recoverable_operate._commands.display import finish_look, message_data
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate._commands.whole import lines_of
from recoverable_operate.errors import FailedMessage, Plan, matching


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_looking(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the messages. Return 0; 1 when not all could be looked at; 3 when none matches."""
    return run_with_queue(arguments, lambda session: show(session, arguments))


def show(session: Session, arguments: argparse.Namespace) -> int:
    """Print each message that the filter chooses."""
    plan, wanted = Plan(), filter_of(arguments)
    limit = arguments.limit or len(wanted.ids) or None
    for message in matching(session.queue, wanted, limit, plan):
        if arguments.json:
            session.terminal.data(whole_data(message))
        else:
            session.terminal.show(*lines_of(message, session.place, session.queue.address))
    return finish_look(session, plan)


def whole_data(message: FailedMessage) -> dict[str, object]:
    """Return a message as a line of JSON, with headers and body."""
    body = None if message.body is None else base64.b64encode(message.body).decode()
    return {
        **message_data(message),
        "headers": dict(message.headers),
        "bodyBase64": body,
        "bodyError": message.body_error,
    }
