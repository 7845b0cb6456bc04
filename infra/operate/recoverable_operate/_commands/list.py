"""List the messages of an error queue.

Examples:
  recoverable errors list --queue shop-orders-error
  recoverable errors list --queue shop-orders-error --type CardDeclined --since 6h
  recoverable errors list --queue sb://shop.servicebus.windows.net/orders-error --where customer.id=42 --json
"""

from __future__ import annotations

import argparse

from recoverable_operate._commands.arguments import add_looking, filter_of, positive
from recoverable_operate._commands.display import finish_look, message_data, message_table
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate.errors import FailedMessage, Plan, matching


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_looking(parser)
    parser.add_argument("--page-size", type=positive, metavar="N", help="messages of one table (default: 100)")


def run(arguments: argparse.Namespace) -> int:
    """List the messages. Return 0; 1 when not all could be looked at; 3 when none matches."""
    return run_with_queue(arguments, lambda session: list_messages(session, arguments))


def list_messages(session: Session, arguments: argparse.Namespace) -> int:
    """Print each message that the filter chooses, in tables of a page each."""
    plan, page = Plan(), list[FailedMessage]()
    for message in matching(session.queue, filter_of(arguments), arguments.limit, plan):
        if arguments.json:
            session.terminal.data(message_data(message))
            continue
        page.append(message)
        if len(page) == session.place.page_size:  # so that memory does not grow with the queue
            session.terminal.show(message_table(page))
            page.clear()
    if page:
        session.terminal.show(message_table(page))
    return finish_look(session, plan)
