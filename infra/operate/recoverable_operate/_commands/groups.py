"""Count the messages of an error queue by what failed: the exception's type and the first frame of your own code.

Examples:
  recoverable errors groups --queue shop-orders-error
  recoverable errors groups --queue shop-orders-error --since 6h --json
"""

from __future__ import annotations

import argparse

from recoverable_operate._commands.arguments import add_looking, filter_of
from recoverable_operate._commands.display import finish_look, group_data, group_table, watched
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate.errors import Plan, matching


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_looking(parser)


def run(arguments: argparse.Namespace) -> int:
    """Count the groups. Return 0; 1 when not all could be looked at; 3 when no message matches."""
    return run_with_queue(arguments, lambda session: show_groups(session, arguments))


def show_groups(session: Session, arguments: argparse.Namespace) -> int:
    """Print the groups of the messages that the filter chooses."""
    plan = Plan()
    with watched(session, plan):
        for _ in matching(session.queue, filter_of(arguments), arguments.limit, plan):
            pass
    if arguments.json:
        for each in plan.groups.values():
            session.terminal.data(group_data(each))
    elif plan.groups:
        session.terminal.show(group_table(plan.groups.values()))
    return finish_look(session, plan)
