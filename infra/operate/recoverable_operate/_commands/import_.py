"""Send messages that were exported, and perhaps edited, back to where they failed, by the rules and the journal of `retry`.

Each is looked for in the error queue, compared with its line, sent as the line has it, and deleted. A line whose message is not found
is not sent, unless `purge` wrote it. A body that was edited makes another message: it gets a new id, and Recoverable.EditOf names the old one.

Examples:
  recoverable errors import --queue shop-orders-error --file failed.jsonl
  recoverable errors import --queue shop-orders-error --file failed.jsonl --type CardDeclined --yes
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, field, replace

from recoverable_operate._commands.arguments import add_looking, add_max_delivery_count, add_sending, filter_of
from recoverable_operate._commands.circuit import warn_if_open
from recoverable_operate._commands.display import watched
from recoverable_operate._commands.retry import agreed, finish, print_plan, redriving, rules_of, settings_of, status_of
from recoverable_operate._commands.session import Session, run_with_queue
from recoverable_operate._commands.terminal import messages
from recoverable_operate.errors import FailedMessage, OperateError, Plan, Redrive
from recoverable_operate.errors._exchange import InFile, Line, read_lines
from recoverable_operate.errors._journal import SENT
from recoverable_operate.errors._message import key_of
from recoverable_operate.errors._redrive import Refusal, Target, destination
from recoverable_operate.errors._sweep import choosing


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--file", required=True, metavar="FILE", help="what `export` or `purge` wrote")
    parser.add_argument(
        "--without-original", action="store_true", help="send also those that are not in the error queue any more"
    )
    add_looking(parser, yes="do it without asking, except in production")
    add_sending(parser)
    add_max_delivery_count(parser)


def run(arguments: argparse.Namespace) -> int:
    """Send the messages of the file. Return the exit status."""
    return run_with_queue(arguments, lambda session: import_file(session, arguments))


@dataclass
class Import:
    """One run over a file.

    Args:
        session: what it works with.
        arguments: of the command line.
        lines: the file's, by the broker's id.
        found: the broker's ids of those that are in the error queue.
    """

    session: Session
    arguments: argparse.Namespace
    lines: dict[str, Line]
    found: set[str] = field(default_factory=set)

    def look(self, plan: Plan) -> None:
        """Look at the queue, and choose the messages of the file."""
        queue, arguments = self.session.queue, self.arguments
        rules = rules_of(self.session, arguments)
        self.found |= {each.broker_id for each in choosing(queue, self.wanted, arguments.limit, rules, plan)}

    @property
    def wanted(self) -> InFile:
        """Return what chooses messages."""
        return InFile(self.lines, filter_of(self.arguments), self.arguments.file)

    def missing(self, plan: Plan) -> list[Line]:
        """Return the lines whose message is not in the queue; none where not all of the queue was looked at."""
        return [] if plan.ending or not plan.at_end or self.session.stop.requested else self.wanted.missing(self.found)

    def settle_missing(self, redrive: Redrive, plan: Plan) -> None:
        """Send the missing ones that may be sent without an original; of the others note what the journal knows."""
        to_send: dict[str, list[FailedMessage]] = defaultdict(list)
        rules = rules_of(self.session, self.arguments)
        for line in self.missing(plan):
            message = line.message
            key = key_of(message, self.session.queue.address)
            entry = self.session.journal.find([key]).get(key)
            if entry is not None and entry.state == SENT:
                redrive.outcome.finished += 1
                continue
            if not (line.deleted or self.arguments.without_original):
                known = f"; a run began to send it at {entry.changed_at[:19]} UTC, and got no answer" if entry else ""
                redrive.outcome.missing.append(f"line {line.number}, {message.id}: not in the error queue{known}")
                continue
            match destination(message, rules, trusted_source=False):
                case Target(to):
                    to_send[to].append(message)
                case Refusal(reason):
                    redrive.outcome.missing.append(f"line {line.number}, {message.id}: {reason}")
        for to, found in to_send.items():
            redrive.run_without_originals(to, found)


def import_file(session: Session, arguments: argparse.Namespace) -> int:
    """Make the plan, show it, ask, and carry it out.

    Raises:
        OperateError: the file cannot be read, or a line of it may not be sent.
    """
    try:
        with open(arguments.file, encoding="utf-8") as texts:
            lines = read_lines(texts, session.queue, arguments.file)
    except (OSError, UnicodeDecodeError) as error:
        raise OperateError(f"{arguments.file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    work, plan = Import(session, arguments, lines), Plan()
    settings = replace(settings_of(arguments), edits={name: line.message for name, line in lines.items()})
    with watched(session, plan):
        work.look(plan)
    print_plan(session, arguments, plan, settings)
    missing = work.missing(plan)
    if session.queue.ordered and plan.targets:
        session.terminal.remark("FIFO: what is sent stands behind newer messages of its group, an edited one too.")
    if missing:
        session.terminal.note(f"{messages(len(missing))} of {arguments.file} are not in the error queue.")
    elif (status := status_of(plan)) is not None:
        return status
    limited = session.place.circuit is not None and warn_if_open(session)
    question = f"Send {messages(plan.chosen)}, and what may be sent without an original?"
    if (status := agreed(session, arguments, question, by_name=limited)) is not None:
        return status
    with redriving(session, plan, settings) as redrive:
        redrive.run_groups(work.look)
        if not redrive.outcome.stopped:
            work.settle_missing(redrive, plan)
    return finish(session, arguments, plan, redrive.outcome)
