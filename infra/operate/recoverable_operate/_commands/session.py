"""Open the error queue of the arguments, and give back at the end what was held."""

from __future__ import annotations

import argparse
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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
from recoverable_operate.errors._journal import default_path


@dataclass(frozen=True, slots=True)
class Session:
    """What a verb works with.

    Args:
        queue: the error queue.
        terminal: where it writes.
        clock: tells the time.
        stop: says when the operator wants to stop.
    """

    queue: ErrorQueue
    terminal: Terminal
    clock: Clock
    stop: Stop


Work = Callable[[Session], int]


def run_with_queue(arguments: argparse.Namespace, work: Work, *, quietly: bool = False) -> int:
    """Open the queue, do the work, give back what is held, and return the exit status.

    Args:
        arguments: of the command line.
        work: what to do.
        quietly: True for a verb that does not look at the queue, so that nothing is to be said about that.
    """
    terminal = Terminal()
    try:
        with stopping() as stop, opened(arguments, terminal, stop, quietly=quietly) as session:
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
def opened(arguments: argparse.Namespace, terminal: Terminal, stop: Stop, *, quietly: bool) -> Iterator[Session]:
    """Yield the session; what the queue holds is given back at its end."""
    clock = SystemClock()
    queue = open_queue(arguments, clock, stop)
    for note in [] if quietly else queue.notes():
        terminal.note(note)
    try:
        yield Session(queue, terminal, clock, stop)
    finally:
        give_back(queue, terminal)


def give_back(queue: ErrorQueue, terminal: Terminal) -> None:
    """Let others have what is held, and say so."""
    given = queue.give_back()
    if given.visible:
        terminal.note(f"Gave back {messages(given.visible)}.")
    if given.hidden and given.until:
        terminal.note(f"{messages(given.hidden)} will come back at {given.until:%H:%M:%S} UTC: {given.why}.")


def open_queue(arguments: argparse.Namespace, clock: Clock, stop: Stop) -> ErrorQueue:
    """Return the error queue that `--queue` names.

    Raises:
        OperateError: it cannot be reached.
    """
    if arguments.queue.startswith("sb://"):
        return open_service_bus(arguments, clock, stop)
    return open_sqs(arguments, clock, stop)


def open_sqs(arguments: argparse.Namespace, clock: Clock, stop: Stop) -> ErrorQueue:
    """Return an SQS queue."""
    access = Access(
        profile=arguments.profile, region=arguments.region, role=arguments.role, endpoint_url=arguments.endpoint_url
    )
    clients = Clients(access)
    client, url = find_queue(clients, arguments.queue, arguments.region)
    rate = getattr(arguments, "rate", 0)
    return SqsErrorQueue(client, url, sender_for=clients.sender, clock=clock, stop=stop, rate=rate, poll=arguments.poll)


def open_service_bus(arguments: argparse.Namespace, clock: Clock, stop: Stop) -> ErrorQueue:
    """Return a Service Bus queue, with or without sessions, or dead letters."""
    entity = entity_of(arguments.queue)
    reading, sending = clients_for(entity, os.environ.get(arguments.connection), arguments.connection)
    most = getattr(arguments, "max_delivery_count", 10)
    return open_entity(reading, sending, entity, clock=clock, stop=stop, max_delivery_count=most, poll=arguments.poll)


def open_journal(arguments: argparse.Namespace, clock: Clock) -> Journal:
    """Return the journal, without entries that are too old to matter."""
    journal = Journal(arguments.journal or default_path(os.environ))
    journal.forget_old(clock.now())
    return journal
