"""Count the messages of an error queue by what failed: the exception's type and the first frame of your own code.

Below stands what the queues hold where messages failed: is it safe to send back now?

Examples:
  recoverable errors groups --queue shop-orders-error
  recoverable errors groups --queue shop-orders-error --since 6h --json
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import suppress

from recoverable_operate._commands.arguments import add_looking, filter_of
from recoverable_operate._commands.display import (
    backlog_data,
    backlog_table,
    finish_look,
    group_data,
    group_table,
    watched,
)
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate.errors import ErrorQueue, OperateError, Plan, matching
from recoverable_operate.errors._queue import Backlog


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
    backlogs = {queue: backlog_of(session, queue) for queue in source_queues(session, plan)}
    if arguments.json:
        for each in plan.groups.values():
            failed_at = set(addresses(session.queue, each.queues))
            found = {queue: backlog_data(backlog) for queue, backlog in backlogs.items() if queue in failed_at}
            session.terminal.data({**group_data(each), "backlogs": found})
    else:
        if plan.groups:
            session.terminal.show(group_table(plan.groups.values()))
        if backlogs:
            session.terminal.show(backlog_table(backlogs))
    return finish_look(session, plan)


def source_queues(session: Session, plan: Plan) -> list[str]:
    """Return the queues where messages failed, by their full addresses, as far as messages may be sent back there.

    Headers are untrusted: a queue that only they name is asked about on Service Bus alone, in the same namespace. Without the right to
    list the queues whose dead letters come here, those of the place remain.
    """
    queue = session.queue
    allowed = set(map(queue.canonical, session.place.allow))
    with suppress(OperateError):
        allowed.update(queue.sources())
    named = (address for tally in plan.groups.values() for address in addresses(queue, tally.queues))
    return sorted(allowed.union(named) if queue.trusted_source else allowed)


def addresses(queue: ErrorQueue, names: Iterable[str]) -> Iterator[str]:
    """Yield the full addresses of queues, without what a header says that is none."""
    for each in names:
        with suppress(OperateError):
            yield queue.canonical(each)


def backlog_of(session: Session, queue: str) -> Backlog | str:
    """Return how much the queue holds, or why that is not known."""
    try:
        return session.queue.backlog(queue)
    except OperateError as error:
        return str(error)
