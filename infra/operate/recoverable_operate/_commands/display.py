"""Print messages, groups, what a verb is about to do, and what became of it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from rich.table import Table

from recoverable._ladder import faults
from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable.headers import FIRST_FAILED_AT, LOG_STREAM, REQUEST_ID, read_date
from recoverable_operate._commands.session import Session
from recoverable_operate._commands.terminal import DONE, NOTHING, PARTLY, Progress, messages, printable
from recoverable_operate.errors import FailedMessage, Outcome, Plan, Settings, Tally, group_of
from recoverable_operate.errors._message import ACTIVE, some
from recoverable_operate.errors._redrive import name_of

MOST_BYTES = 512
"""Bytes of a body that is no text that are shown."""

ROW = 16


def details(message: FailedMessage) -> Iterator[str]:
    """Yield the lines that describe the message."""
    group = group_of(message)
    yield f"message {message.id}"
    yield f"group   {group.id}  {group.title}"
    yield from way(message)
    yield from ("", "headers")
    yield from (f"  {name}: {value}" for name, value in sorted(message.headers.items()) if name != faults.STACK_TRACE)
    if trace := message.headers.get(faults.STACK_TRACE):
        yield from ("", "stack trace")
        yield from (f"  {line}" for line in trace.splitlines())
    yield from ("", "body")
    yield from (f"  {line}" for line in body_lines(message))
    yield ""


def way(message: FailedMessage) -> Iterator[str]:
    """Yield the way that the message went, in the order of time, and where its log is."""
    attempts = f", attempt {message.attempts}" if message.attempts else ""
    steps = (
        (message.sent_at, "sent"),
        (read_date(message.headers, FIRST_FAILED_AT), "failed for the first time"),
        (
            read_date(message.headers, faults.TIME_OF_FAILURE),
            f"failed for the last time{attempts}, at {message.failed_queue}",
        ),
        (message.enqueued_at, f"came to the error queue{death(message)}"),
    )
    if message.problem:
        yield f"        cannot be read: {message.problem}; it is sent back only where --to names a queue"
    yield from (f"  {moment:%Y-%m-%d %H:%M:%S}  {what}" for moment, what in steps if moment)
    if message.redrives:
        yield f"  sent back {message.redrives} times before"
    for name, what in ((REQUEST_ID, "request"), (LOG_STREAM, "log stream")):
        if text := message.headers.get(name):
            yield f"  {what}: {text}"


def death(message: FailedMessage) -> str:
    """Return how a message without fault headers came here, as far as the broker says."""
    if message.problem or not message.unexplained:
        return ""
    if not message.died:
        return ", without a reason: the broker dead-lettered it, or something else sent it"
    source = f" from {message.source}" if message.source else ""
    return f": the broker dead-lettered it{source} ({message.reason or 'delivered too often'}); look there for crashes and time-outs"


def body_lines(message: FailedMessage) -> list[str]:
    """Return the body: JSON indented, text as it is, else bytes in hexadecimal."""
    if message.body is None:
        return [f"not with the message: {message.body_error}"]
    try:
        text = message.body.decode()
    except UnicodeDecodeError:
        return hexadecimal(message.body)
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False).splitlines()
    except (ValueError, RecursionError):
        return text.splitlines() or ["(empty)"]


def hexadecimal(body: bytes) -> list[str]:
    """Return the first bytes, in rows."""
    rows = [body[start : start + ROW].hex(" ") for start in range(0, min(len(body), MOST_BYTES), ROW)]
    return [f"{len(body):,} bytes, no text", *rows]


MOST_TEXT = 200
"""Characters of a text in a table."""


def message_table(messages: Iterable[FailedMessage]) -> Table:
    """Build the table of messages: narrow, so that an id stays in one line."""
    table = plain_table("failed at", "group", "message")
    for each in messages:
        where = f" at {name_of(each.failed_queue)}" if each.failed_queue else ""
        state = "" if each.state == ACTIVE else f" ({each.state})"
        lines = f"{shortened(each.id + where + state)}\n{shortened(summary(each))}"
        table.add_row(time_text(each.failed_at), group_of(each).id, lines)
    return table


def summary(message: FailedMessage) -> str:
    """Return what failed, in one line."""
    group = group_of(message)
    text = message.headers.get(EXCEPTION_MESSAGE)
    return f"{group.kind}: {text}" if text and not message.problem else group.title


def group_table(tallies: Iterable[Tally]) -> Table:
    """Build the table of groups, the largest first."""
    table = plain_table("group", "messages", "last failed at", "what failed")
    for each in sorted(tallies, key=lambda tally: (-tally.count, tally.group.title)):
        queues = ", ".join(sorted(map(name_of, each.queues)))
        what = f"{shortened(each.group.title)}\n{shortened(f'at {queues}')}" if queues else shortened(each.group.title)
        table.add_row(each.group.id, str(each.count), time_text(each.last), what)
    return table


def plain_table(*columns: str) -> Table:
    """Return a table without lines, which can be copied from."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True, overflow="fold")
    table.add_column(columns[-1], overflow="fold", ratio=1)
    return table


def shortened(text: str) -> str:
    """Return the text in one line of a length that a table can have."""
    return printable(text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…")


def time_text(moment: datetime | None) -> str:
    """Return the time, to the second, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment else "–"


def message_data(message: FailedMessage) -> dict[str, Any]:
    """Return a message as a line of JSON, without its body."""
    group = group_of(message)
    return {
        "id": message.id,
        "brokerId": message.broker_id,
        "group": group.id,
        "exceptionType": message.exception_type,
        "exceptionMessage": message.headers.get(EXCEPTION_MESSAGE),
        "failedQueue": message.failed_queue,
        "failedAt": message.failed_at.isoformat() if message.failed_at else None,
        "attempts": message.attempts,
        "redrives": message.redrives,
        "groupId": message.group_id,
        "receives": message.receives,
        "state": message.state,
        "died": message.died,
        "problem": message.problem,
    }


def group_data(tally: Tally) -> dict[str, Any]:
    """Return a group as a line of JSON."""
    return {
        "group": tally.group.id,
        "messages": tally.count,
        "kind": tally.group.kind,
        "frame": tally.group.frame,
        "first": tally.first.isoformat() if tally.first else None,
        "last": tally.last.isoformat() if tally.last else None,
        "queues": sorted(tally.queues),
    }


def watched(session: Session, plan: Plan, outcome: Outcome | None = None) -> AbstractContextManager[None]:
    """Show how far a look is, and how far sending is where messages are sent."""

    def progress() -> Progress:
        settled = None if outcome is None else outcome.settled
        return Progress(plan.seen, session.queue.depth, plan.matched, plan.chosen, settled)

    return session.terminal.watching(progress)


def finish_look(session: Session, plan: Plan) -> int:
    """Print how the look ended, and return the exit status of a verb that only looks."""
    say_ending(session, plan)
    if plan.ending:
        return PARTLY
    return DONE if plan.matched else NOTHING


def say_ending(session: Session, plan: Plan) -> None:
    """Print how many messages were looked at, and what the look has not seen."""
    session.terminal.note(f"Looked at {messages(plan.seen)}; {plan.matched} match.")
    if plan.ending:
        session.terminal.note(f"Not all was looked at: {plan.ending}.")
    unseen = (session.queue.depth or 0) - plan.seen
    if unseen > 0 and plan.at_end and plan.ending is None:
        session.terminal.note(
            f"The queue says that it holds about {unseen} more: hidden by another reader, delayed, or counted late."
        )


def show_plan(session: Session, plan: Plan, verb: str, settings: Settings | None = None) -> None:
    """Print the plan."""
    terminal = session.terminal
    say_ending(session, plan)
    if plan.groups:
        terminal.show(group_table(plan.groups.values()))
    for to, count in sorted(plan.targets.items()):
        terminal.show(printable(f"{verb} {count}{f' to {to}' if to else ''}"))
    for reason, count in plan.refused.most_common():
        terminal.show(printable(f"leave {count}: {reason}"))
    if plan.waiting:
        terminal.show(f"leave {plan.waiting}: scheduled or deferred")
    if plan.behind:
        terminal.show(f"leave {plan.behind}: another message of their group stays before them")
    if plan.allow:
        allow = " ".join(f"--allow {shlex.quote(printable(queue))}" for queue in sorted(plan.allow))
        terminal.show(f"If that is right, add: {allow}")
    if settings and settings.canary:
        show_canary(session, plan, settings)


def show_canary(session: Session, plan: Plan, settings: Settings) -> None:
    """Print the canary's wait, compared with the ladder that a failing message climbs before it is back."""
    wait, ladder = until_text(settings.canary_wait), until_text(plan.ladder)
    session.terminal.show(f"first {min(settings.canary, plan.chosen)}, then wait {wait} for one to come back")
    if settings.canary_wait <= plan.ladder:
        session.terminal.show(
            f"The wait is too short: a message that fails is back after its ladder, which took {ladder} last time; "
            f"give --canary-wait {int(plan.ladder.total_seconds()) + 60}s or more"
        )


def until_text(seconds: timedelta) -> str:
    """Return a duration in minutes and seconds."""
    minutes, rest = divmod(int(seconds.total_seconds()), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return the plan as a line of JSON."""
    return {
        "seen": plan.seen,
        "matched": plan.matched,
        "targets": dict(plan.targets),
        "refused": dict(plan.refused),
        "allow": sorted(plan.allow),
        "waiting": plan.waiting,
        "behind": plan.behind,
        "ending": plan.ending,
        "groups": [group_data(each) for each in plan.groups.values()],
    }


def show_outcome(session: Session, outcome: Outcome, *, as_json: bool) -> None:
    """Print what became of the messages."""
    if as_json:
        session.terminal.data(asdict(outcome))
        return
    for line in outcome_lines(outcome):
        session.terminal.show(printable(line))


def outcome_lines(outcome: Outcome) -> list[str]:
    """Return what became of the messages, in sentences."""
    lines = [f"Sent back {outcome.sent}."]
    if outcome.finished:
        lines.append(f"Deleted {outcome.finished} that an earlier run had sent.")
    if outcome.doubled:
        lines.append(f"Sent {len(outcome.doubled)} again that an earlier run may have sent.")
    lines += [f"Refused, still here: {count} ({why})." for why, count in outcome.refused.items()]
    if outcome.doubtful:
        lines.append(
            f"No answer for {len(outcome.doubtful)}, still here, and perhaps sent. The next run sends them again."
        )
    lines += [
        f"Sent, but still here: {count} ({why}). The next run deletes them." for why, count in outcome.undeleted.items()
    ]
    if outcome.came_back:
        lines.append(f"Came back: {some(outcome.came_back)}.")
    lines += [f"Not sent: {each}." for each in outcome.missing]
    return [*lines, f"Stopped: {outcome.stopped}."] if outcome.stopped else lines


def command_with(option: str) -> str:
    """Return this process's command with an option more, ready to paste."""
    return shlex.join(["recoverable", *sys.argv[1:], *shlex.split(option)])
