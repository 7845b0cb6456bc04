"""Open the error queue of the arguments, and give back at the end what was held."""

from __future__ import annotations

import argparse
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime

from recoverable._sqs.queues import queue_from_arn
from recoverable_operate._commands.places import HOW_TO_TRUST, Place, place_of
from recoverable_operate._commands.terminal import INTERRUPTED, PARTLY, REFUSED, Terminal, messages, stopping
from recoverable_operate.errors import (
    Clock,
    ErrorQueue,
    Journal,
    OperateError,
    SqsErrorQueue,
    Stop,
    SystemClock,
    open_entity,
)
from recoverable_operate.errors._aws.session_client import Access, Clients, find_queue
from recoverable_operate.errors._azure.entity import entity_of
from recoverable_operate.errors._azure.namespace_client import clients_for
from recoverable_operate.errors._journal import NO_ANSWER, default_path


@dataclass(frozen=True, slots=True)
class Session:
    """The parts that a verb works with.

    Args:
        place: the error queue's name, and how it is reached.
        queue: the error queue.
        journal: what earlier runs on this machine did.
        terminal: where it writes.
        clock: tells the time.
        stop: says when the operator wants to stop.
    """

    place: Place
    queue: ErrorQueue
    journal: Journal
    terminal: Terminal
    clock: Clock
    stop: Stop


Work = Callable[[Session], int]


def run_with_queue(arguments: argparse.Namespace, work: Work) -> int:
    """Open the queue, do the work, give back what is held, and return the exit status.

    Args:
        arguments: of the command line.
        work: what to do.
    """
    terminal = Terminal(quiet=arguments.quiet)
    try:
        with stopping() as stop, opened(arguments, terminal, stop) as session:
            status = work(session)
            terminal.flush()
    except OperateError as error:
        terminal.note(f"recoverable errors: {error}")
        return REFUSED
    except (OSError, sqlite3.Error) as error:  # of the operator's machine, because a broker's errors are OperateError
        terminal.abandon()
        terminal.note(f"recoverable errors: stopped, because nothing more can be written here: {error}")
        return PARTLY
    return INTERRUPTED if stop.requested else status


@contextmanager
def opened(arguments: argparse.Namespace, terminal: Terminal, stop: Stop) -> Iterator[Session]:
    """Yield the session; what the queue holds is given back at its end. Doubts that an earlier run left are shown first."""
    clock, place = SystemClock(), place_of(arguments)
    clients = None if place.on_service_bus else Clients(access_of(place))
    if place.name is not None:
        introduce(place, clients, terminal)
    with closing(open_journal(arguments, terminal, clock)) as journal:
        show_doubts(terminal, journal, before=clock.now() - NO_ANSWER)
        if clients is None:
            queue = open_service_bus(place, clock, stop)
        else:
            queue = open_sqs(arguments, place, clients, journal, clock, stop)
        for note in queue.notes():
            terminal.remark(note)
        try:
            yield Session(place, queue, journal, terminal, clock, stop)
        finally:
            give_back(queue, terminal)


def give_back(queue: ErrorQueue, terminal: Terminal) -> None:
    """Let others have what is held, and say so."""
    given = queue.give_back()
    if given.visible:
        terminal.remark(f"Gave back {messages(given.visible)}.")
    if given.hidden and given.until:
        terminal.note(f"{messages(given.hidden)} will come back at {given.until:%H:%M:%S} UTC: {given.why}.")


def show_doubts(terminal: Terminal, journal: Journal, *, before: datetime) -> None:
    """Name each message of which a run that was killed, or got no answer, leaves in doubt whether it was sent; once it is written, not again.

    Args:
        terminal: where they are named.
        journal: knows them.
        before: see `Journal.doubts`.
    """
    doubts = journal.doubts(before)
    if not (doubts.unanswered or doubts.sent_again):
        return
    for entries, text in ((doubts.unanswered, NO_ANSWER_TEXT), (doubts.sent_again, SENT_AGAIN_TEXT)):
        if entries:
            terminal.note(text.format(messages(len(entries))))
        for each in entries:
            terminal.note(f"  {each.message_id}, from {each.queue} to {each.target}, {each.changed_at[:19]} UTC")
    terminal.flush()
    journal.note_shown(doubts)


NO_ANSWER_TEXT = "{}: a run was killed, or got no answer, while it sent them. The next `retry` sends again those that are still in their error queue."
SENT_AGAIN_TEXT = "{} may have arrived twice: a run was killed while it sent them, and they were sent again."


def access_of(place: Place) -> Access:
    """Return how SQS is reached."""
    return Access(profile=place.profile, region=place.region, role=place.role, endpoint_url=place.endpoint)


def introduce(place: Place, clients: Clients | None, terminal: Terminal) -> None:
    """Print what the place is, and what of its file does not count.

    Raises:
        OperateError: the credentials are of another account than the queue.
    """
    said = f"{place.name} of {place.file}: {place.queue}"
    if clients is not None:
        owner, account = queue_from_arn(place.queue).account, clients.account()
        if account != owner:
            raise OperateError(
                f"{said} is of account {owner}, and the credentials are of {account}; choose others with --profile or --role"
            )
        said += f", account {account}"
    elif place.connection in os.environ:
        said += f", by the connection string in {place.connection}"
    terminal.note(said + (", in production" if place.production else ""))
    if place.ignored:
        terminal.note(f"Not trusted, so not used: {', '.join(place.ignored)}. To use them, {HOW_TO_TRUST}")


def open_sqs(
    arguments: argparse.Namespace, place: Place, clients: Clients, journal: Journal, clock: Clock, stop: Stop
) -> ErrorQueue:
    """Return an SQS queue.

    Raises:
        OperateError: it cannot be reached.
    """
    client, url = find_queue(clients, place.queue, place.region)
    rate = getattr(arguments, "rate", 0)
    return SqsErrorQueue(
        client, url, sender_for=clients.sender, clock=clock, stop=stop, metrics_for=clients.metrics, journal=journal, rate=rate,
        poll=place.poll,
    )  # fmt: skip


def open_service_bus(place: Place, clock: Clock, stop: Stop) -> ErrorQueue:
    """Return a Service Bus queue, with or without sessions, or dead letters.

    Raises:
        OperateError: it cannot be reached.
    """
    entity = entity_of(place.queue)
    reading, sending = clients_for(entity, place.connection_string, place.connection, place.transport)
    most, poll = place.max_delivery_count, place.poll
    return open_entity(reading, sending, entity, clock=clock, stop=stop, max_delivery_count=most, poll=poll)


def open_journal(arguments: argparse.Namespace, terminal: Terminal, clock: Clock) -> Journal:
    """Return the journal, without entries that are too old to matter.

    Raises:
        OperateError: it cannot be opened, and the verb sends messages; one that only looks goes on without it.
    """
    try:
        journal = Journal(arguments.journal or default_path(os.environ))
    except OperateError as error:
        if hasattr(arguments, "rate"):
            raise
        terminal.note(f"{error}. This run only looks, and goes on without one.")
        return Journal(":memory:")
    journal.forget_old(clock.now())
    return journal
