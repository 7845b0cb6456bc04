"""Print what a verb is about to do, ask, and print what became of it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from typing import Any

from recoverable_operate.aws.visibility import until_text
from recoverable_operate.commands.opening import Session
from recoverable_operate.commands.tables import group_data, group_table
from recoverable_operate.commands.terminal import messages, printable
from recoverable_operate.failed import some
from recoverable_operate.sending.settings import Outcome, Settings
from recoverable_operate.sweep import Plan


def say_ending(session: Session, plan: Plan) -> None:
    """Print how many messages were looked at, and what the look has not seen."""
    session.terminal.note(f"Looked at {messages(plan.seen)}; {plan.matched} match.")
    if plan.ending:
        session.terminal.note(f"Not all was looked at: {plan.ending}.")
    unseen = getattr(session.queue, "unseen", lambda: 0)()
    if unseen and plan.ending is None:
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
        lines.append(f"Sent {len(outcome.doubled)} again that an earlier run may have sent: {some(outcome.doubled)}.")
    lines += [f"Refused, still here: {count} ({why})." for why, count in outcome.refused.items()]
    if outcome.doubtful:
        lines.append(
            f"No answer for {len(outcome.doubtful)}, still here, and perhaps sent: {some(outcome.doubtful)}. "
            "The next run sends them again."
        )
    lines += [
        f"Sent, but still here: {count} ({why}). The next run deletes them." for why, count in outcome.undeleted.items()
    ]
    if outcome.came_back:
        lines.append(f"Came back: {some(outcome.came_back)}.")
    return [*lines, f"Stopped: {outcome.stopped}."] if outcome.stopped else lines


def command_with(option: str) -> str:
    """Return this process's command with an option more, ready to paste."""
    return shlex.join(["recoverable", *sys.argv[1:], *shlex.split(option)])
