"""Print messages, groups, what a verb is about to do, and what became of it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from rich.table import Table

from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable_operate._commands.session import Session
from recoverable_operate._commands.terminal import DONE, NOTHING, PARTLY, Progress, messages, printable
from recoverable_operate.errors import FailedMessage, Outcome, Plan, Settings, Tally, group_of
from recoverable_operate.errors._message import ACTIVE, some
from recoverable_operate.errors._queue import Backlog
from recoverable_operate.errors._redrive import name_of

MOST_TEXT = 200
"""Characters of a text in a table."""


def message_table(messages: Iterable[FailedMessage]) -> Table:
    """Build the table of messages: narrow, so that an id stays in one line."""
    table = plain_table("failed at", "group", "attempts", "message")
    for each in messages:
        where = f" at {name_of(each.failed_queue)}" if each.failed_queue else ""
        state = "" if each.state == ACTIVE else f" ({each.state})"
        lines = f"{shortened(each.id + where + state)}\n{shortened(summary(each))}"
        table.add_row(time_text(each.failed_at), group_of(each).id, str(each.attempts or "–"), lines)
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
        lines = [each.group.title, queues and f"at {queues}", each.example and f"such as: {each.example}"]
        what = "\n".join(shortened(line) for line in lines if line)
        table.add_row(each.group.id, str(each.count), time_text(each.last), what)
    return table


def backlog_table(backlogs: Mapping[str, Backlog | str]) -> Table:
    """Build the table of what queues hold, by their full addresses; a text says why it is not known."""
    table = plain_table("waiting", "in flight", "later", "oldest", "queue where messages failed")
    for queue, found in backlogs.items():
        if isinstance(found, str):
            table.add_row("–", "–", "–", "–", shortened(f"{name_of(queue)}: {found}"))
            continue
        waiting = f"{found.waiting}{'+' if found.more else ''}"
        in_flight = "–" if found.in_flight is None else str(found.in_flight)
        oldest = "–" if found.oldest is None else until_text(found.oldest)
        table.add_row(waiting, in_flight, str(found.later), oldest, shortened(name_of(queue)))
    return table


def backlog_data(found: Backlog | str) -> dict[str, Any]:
    """Return what a queue holds as JSON has it."""
    if isinstance(found, str):
        return {"problem": found}
    return {
        "waiting": found.waiting,
        "inFlight": found.in_flight,
        "later": found.later,
        "oldestSeconds": None if found.oldest is None else int(found.oldest.total_seconds()),
        "more": found.more,
    }


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
    """Return the time, to the second, in UTC; beside it local time where that is another."""
    if moment is None:
        return "–"
    local = moment.astimezone()
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (f" ({local:%a %H:%M %Z})" if local.utcoffset() else "")


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
        "unsendable": message.unsendable,
    }


def group_data(tally: Tally) -> dict[str, Any]:
    """Return a group as a line of JSON."""
    return {
        "group": tally.group.id,
        "messages": tally.count,
        "kind": tally.group.kind,
        "frame": tally.group.frame,
        "example": tally.example,
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
    for why, count in plan.refused.items():
        session.terminal.note(f"import does not send {count} back: {why}")
    if plan.ending or plan.refused:
        return PARTLY
    return DONE if plan.matched else NOTHING


def say_ending(session: Session, plan: Plan) -> None:
    """Print how many messages were looked at, and what the look has not seen."""
    session.terminal.remark(f"Looked at {messages(plan.seen)}; {plan.matched} match.")
    if plan.ending:
        session.terminal.note(f"Not all was looked at: {plan.ending}.")
    unseen = (session.queue.depth or 0) - plan.seen
    if unseen > 0 and plan.at_end and plan.ending is None:
        session.terminal.remark(
            f"The queue says that it holds about {unseen} more: hidden by another reader, delayed, or counted late."
        )


def show_plan(session: Session, plan: Plan, verb: str, settings: Settings | None = None) -> None:
    """Print the plan."""
    terminal = session.terminal
    say_ending(session, plan)
    if plan.groups:
        terminal.show(group_table(plan.groups.values()))
    for to, count in sorted(plan.targets.items()):
        terminal.show(f"{verb} {count}{f' to {to}' if to else ''}")
    for reason, count in plan.refused.most_common():
        terminal.show(f"leave {count}: {reason}")
    if plan.waiting:
        terminal.show(f"leave {plan.waiting}: scheduled or deferred")
    if plan.behind:
        terminal.show(f"leave {plan.behind}: another message of their group stays before them")
    if plan.allow:
        allow = " ".join(f"--allow {shlex.quote(queue)}" for queue in sorted(plan.allow))
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
    session.terminal.show(*outcome_lines(outcome))


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
    if outcome.returned:
        lines.append(f"Came back, still here: {outcome.returned}. They failed again; mend their function first.")
    lines += [f"Not sent: {each}." for each in outcome.missing]
    return [*lines, f"Stopped: {outcome.stopped}."] if outcome.stopped else lines


def command_with(option: str) -> str:
    """Return this process's command with an option more, ready to paste."""
    return shlex.join(["recoverable", *sys.argv[1:], *shlex.split(option)])
