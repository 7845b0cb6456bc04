"""Send messages of an error queue back to where they failed.

On a terminal the plan is shown and asked about; elsewhere it is printed, and --yes carries it out, or --confirm NAME in production.
exit status: 0 done, 1 partly, 2 refused, 3 nothing matched, 130 interrupted

Examples:
  recoverable errors retry prod-orders --group 5e0c8f21
  recoverable errors retry --queue shop-orders-error --type BankUnavailable --canary 10 --canary-wait 5m
  recoverable errors retry --queue sb://shop.servicebus.windows.net/orders-error --since 6h --rate 20 --yes
  recoverable errors retry --queue shop-orders-error --id 7f9c… --edit
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from recoverable_operate._commands.arguments import add_looking, add_max_delivery_count, add_sending, filter_of
from recoverable_operate._commands.circuit import warn_if_open
from recoverable_operate._commands.display import command_with, plan_data, show_outcome, show_plan, watched
from recoverable_operate._commands.session import Session, run_with_queue, show_doubts
from recoverable_operate._commands.terminal import DONE, NOTHING, PARTLY, REFUSED, messages
from recoverable_operate.errors import (
    ErrorQueue,
    FailedMessage,
    OperateError,
    Outcome,
    Plan,
    Redrive,
    Rules,
    Settings,
    plan_redrive,
)
from recoverable_operate.errors._message import body_hash
from recoverable_operate.errors._redrive import name_of
from recoverable_operate.errors._sweep import choosing


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_looking(parser, yes="do it without asking, except in production")
    add_sending(parser)
    add_max_delivery_count(parser)
    parser.add_argument(
        "--edit", action="store_true", help="edit the body of one message first; it becomes another message"
    )


def run(arguments: argparse.Namespace) -> int:
    """Send the messages back. Return the exit status."""
    return run_with_queue(arguments, lambda session: retry(session, arguments))


def retry(session: Session, arguments: argparse.Namespace) -> int:
    """Make the plan, show it, ask, and carry it out."""
    limited = session.place.circuit is not None and warn_if_open(session)
    if (
        answered(session, arguments, by_name=limited)
        and session.queue.sends_along
        and not (arguments.canary or arguments.edit)
    ):
        return retry_along(session, arguments)
    plan, settings = Plan(), settings_of(arguments)
    look = partial(plan_redrive, session.queue, filter_of(arguments), arguments.limit, rules_of(session, arguments))
    with watched(session, plan):
        look(plan)
    print_plan(session, arguments, plan, settings)
    if (status := status_of(plan)) is not None:
        return status
    if arguments.edit:
        edited = edited_message(plan, session.queue)
        settings = replace(settings, edits={edited.broker_id: edited})
    if (status := agreed(session, arguments, f"Send {messages(plan.chosen)}?", by_name=limited)) is not None:
        return status
    with redriving(session, plan, settings) as redrive:
        redrive.run_groups(look)
    return finish(session, arguments, plan, redrive.outcome)


def retry_along(session: Session, arguments: argparse.Namespace) -> int:
    """Send messages back while looking, because nobody is asked; print the plan when it is known to its end."""
    plan, settings = Plan(), settings_of(arguments)
    looking = choosing(session.queue, filter_of(arguments), arguments.limit, rules_of(session, arguments), plan)
    with redriving(session, plan, settings) as redrive:
        redrive.run_along(looking)
    print_plan(session, arguments, plan, settings)
    if (status := status_of(plan)) is not None:
        return status
    return finish(session, arguments, plan, redrive.outcome)


def finish(session: Session, arguments: argparse.Namespace, plan: Plan, outcome: Outcome) -> int:
    """Print what became of the messages, and return the exit status."""
    show_outcome(session, outcome, as_json=arguments.json)
    show_doubts(session.terminal, session.journal, before=session.clock.now())
    return DONE if outcome.complete and plan.whole else PARTLY


def print_plan(session: Session, arguments: argparse.Namespace, plan: Plan, settings: Settings) -> None:
    """Print the plan."""
    if arguments.json:
        session.terminal.data(plan_data(plan))
    else:
        show_plan(session, plan, "send", settings)


def status_of(plan: Plan) -> int | None:
    """Return the exit status when nothing is chosen; None when something is."""
    if plan.targets:
        return None
    return REFUSED if plan.matched else NOTHING


@contextmanager
def redriving(session: Session, plan: Plan, settings: Settings) -> Iterator[Redrive]:
    """Yield a run that sends, and show how far it is."""
    redrive = Redrive(session.queue, session.journal, settings, plan, clock=session.clock, stop=session.stop)
    with watched(session, plan, redrive.outcome):
        yield redrive


def answered(session: Session, arguments: argparse.Namespace, *, by_name: bool) -> bool:
    """True if the command line says already that messages are to be sent; in production, and while a circuit is open, only by the name.

    Raises:
        OperateError: it confirms another name.
    """
    if arguments.confirm not in (None, name := name_to_confirm(session)):
        raise OperateError(f"--confirm is {arguments.confirm!r}, but the name is {name!r}")
    return arguments.confirm is not None or (arguments.yes and not by_name and not session.place.production)


def name_to_confirm(session: Session) -> str:
    """Return the name that an operator must give for what cannot be undone."""
    return session.place.name or name_of(session.queue.address)


def agreed(session: Session, arguments: argparse.Namespace, question: str, *, by_name: bool = False) -> int | None:
    """Return None if it is to be done, else the exit status; where nobody can be asked, print the command that does it.

    Args:
        session: what the verb works with.
        arguments: of the command line.
        question: asks for it.
        by_name: True if only the name of the place or queue answers, as always in production.
    """
    if answered(session, arguments, by_name=by_name):
        return None
    name, by_name = name_to_confirm(session), by_name or session.place.production
    if session.terminal.interactive:
        how = f"Type {name} to do it: " if by_name else "[y/N] "
        typed = session.terminal.answer(f"{question} {how}", session.queue.keep)
        return None if (typed == name if by_name else typed.lower() in ("y", "yes")) else DONE
    option = f"--confirm {shlex.quote(name)}" if by_name else "--yes"
    refused = "--yes does not answer here. " if arguments.yes else ""
    session.terminal.note(f"{refused}Nothing is done yet. To do it: {command_with(option)}")
    return REFUSED if arguments.yes else DONE


def rules_of(session: Session, arguments: argparse.Namespace) -> Rules:
    """Return what may be sent where."""
    queue, place = session.queue, session.place
    to = None if arguments.to is None else queue.canonical(arguments.to)
    allowed = frozenset(map(queue.canonical, place.allow))
    return Rules(queue.address, allowed if to else allowed.union(queue.sources()), to, queue.canonical)


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return how messages are sent."""
    return Settings(
        rate=arguments.rate, delay=arguments.delay, canary=arguments.canary, canary_wait=arguments.canary_wait
    )


def edited_message(plan: Plan, queue: ErrorQueue) -> FailedMessage:
    """Return the one message of the plan with the body that the operator leaves.

    Raises:
        OperateError: there are several messages, no body, no editor, or the body is unchanged, or one that the broker does not take.
    """
    message = plan.last
    if plan.chosen != 1 or message is None:
        raise OperateError(f"--edit takes one message, and {plan.chosen} match; choose it with --id")
    if message.body is None:
        raise OperateError(f"the body of {message.id} is {message.body_error}, so it cannot be edited here")
    body = in_editor(message, editor())
    if body == message.body:
        raise OperateError("the body is unchanged; nothing is sent")
    try:
        return replace(queue.from_line(queue.to_line(message), body), body_in_queue=body_hash(message))
    except ValueError as error:
        raise OperateError(f"the edited message cannot be sent: {error}; nothing is sent") from None


def editor() -> list[str]:
    """Return the command of the operator's editor (POSIX, VISUAL and EDITOR).

    Raises:
        OperateError: there is none.
    """
    if command := os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        return shlex.split(command)
    raise OperateError("no editor: set EDITOR")


def in_editor(message: FailedMessage, command: list[str]) -> bytes:
    """Return the body as the editor leaves it, in a file that only its owner can read."""
    with tempfile.TemporaryDirectory(prefix="recoverable-") as folder:
        file = Path(folder) / "body.json"
        file.write_bytes(message.body or b"")
        try:
            subprocess.run([*command, str(file)], check=True)  # noqa: S603  # the operator's own command
        except (OSError, subprocess.CalledProcessError) as error:
            raise OperateError(f"the editor failed, and nothing is sent: {error}") from None
        return file.read_bytes()
