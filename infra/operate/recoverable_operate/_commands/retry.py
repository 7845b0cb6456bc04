"""Send messages of an error queue back to where they failed.

On a terminal the plan is shown and asked about; elsewhere it is printed, and --yes carries it out.
exit status: 0 done, 1 partly, 2 refused, 3 nothing matched, 130 interrupted

Examples:
  recoverable errors retry --queue shop-orders-error --group 5e0c8f21
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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from recoverable_operate._commands.arguments import add_looking, add_max_delivery_count, add_sending, filter_of
from recoverable_operate._commands.display import command_with, plan_data, show_outcome, show_plan
from recoverable_operate._commands.session import Session, open_journal, run_with_queue
from recoverable_operate._commands.terminal import DONE, NOTHING, PARTLY, REFUSED, messages
from recoverable_operate.errors import (
    ErrorQueue,
    FailedMessage,
    OperateError,
    Plan,
    Redrive,
    Rules,
    Settings,
    plan_redrive,
)
from recoverable_operate.errors._message import id_of_edit
from recoverable_operate.errors._sweep import choosing


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_looking(parser)
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
    if arguments.yes and session.queue.sends_along and not (arguments.canary or getattr(arguments, "edit", False)):
        return retry_along(session, arguments)
    plan, settings, more = Plan(), settings_of(arguments), planner(session, arguments)
    more(plan)
    print_plan(session, arguments, plan, settings)
    if (status := status_of(plan)) is not None:
        return status
    if getattr(arguments, "edit", False):
        body = edited_body(plan)
        settings = replace(settings, new_body=body, new_id=id_of_edit(plan.last, body) if plan.last else None)
    if not agreed(session, arguments, f"Send {messages(plan.chosen)}?"):
        return DONE
    with redriving(session, arguments, plan, settings) as redrive:
        outcome = redrive.run_groups(plan, more)
    show_outcome(session, outcome, as_json=arguments.json)
    return DONE if outcome.complete and plan.whole else PARTLY


def retry_along(session: Session, arguments: argparse.Namespace) -> int:
    """Send messages back while looking, because nobody is asked; print the plan when it is known to its end."""
    plan, settings = Plan(), settings_of(arguments)
    looking = choosing(session.queue, filter_of(arguments), arguments.limit, rules_of(session.queue, arguments), plan)
    with redriving(session, arguments, plan, settings) as redrive:
        outcome = redrive.run_along(plan, looking)
    print_plan(session, arguments, plan, settings)
    if (status := status_of(plan)) is not None:
        return status
    show_outcome(session, outcome, as_json=arguments.json)
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


def planner(session: Session, arguments: argparse.Namespace) -> Callable[[Plan], None]:
    """Return what looks at the queue and chooses, as often as it is called."""
    rules, wanted = rules_of(session.queue, arguments), filter_of(arguments)
    return lambda plan: plan_redrive(session.queue, wanted, arguments.limit, rules, plan)


@contextmanager
def redriving(session: Session, arguments: argparse.Namespace, plan: Plan, settings: Settings) -> Iterator[Redrive]:
    """Yield what sends, with the journal open and the progress shown."""
    with closing(open_journal(arguments, session.clock)) as journal, session.terminal.progress(plan.chosen) as progress:
        yield Redrive(
            session.queue, journal, settings, clock=session.clock, stop=session.stop,
            progress=lambda outcome: progress(outcome.settled, plan.chosen),
        )  # fmt: skip


def agreed(session: Session, arguments: argparse.Namespace, question: str) -> bool:
    """True if it is to be done; where nobody can be asked, print the command that does it."""
    if arguments.yes:
        return True
    if session.terminal.interactive:
        return session.terminal.answer(f"{question} [y/N] ", session.queue.keep).lower() in ("y", "yes")
    session.terminal.note(f"Nothing is done yet. To do it: {command_with('--yes')}")
    return False


def rules_of(queue: ErrorQueue, arguments: argparse.Namespace) -> Rules:
    """Return what may be sent where."""
    to = None if arguments.to is None else queue.canonical(arguments.to)
    allowed = frozenset(map(queue.canonical, arguments.allow))
    return Rules(queue.address, allowed if to else allowed.union(queue.sources()), to, queue.canonical)


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return how messages are sent."""
    return Settings(
        rate=arguments.rate, delay=arguments.delay, canary=arguments.canary, canary_wait=arguments.canary_wait
    )


def edited_body(plan: Plan) -> bytes:
    """Return the body of the one message of the plan, as the operator leaves it.

    Raises:
        OperateError: there are several messages, no body, no editor, or the body is unchanged.
    """
    message = plan.last
    if plan.chosen != 1 or message is None:
        raise OperateError(f"--edit takes one message, and {plan.chosen} match; choose it with --id")
    if message.body is None:
        raise OperateError(f"the body of {message.id} is {message.body_error}, so it cannot be edited here")
    body = in_editor(message, editor())
    if body == message.body:
        raise OperateError("the body is unchanged; nothing is sent")
    return body


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
