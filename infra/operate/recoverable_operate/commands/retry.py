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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from recoverable_operate.commands.arguments import (
    add_filter,
    add_json,
    add_max_delivery_count,
    add_queue,
    add_sending,
    filter_of,
)
from recoverable_operate.commands.opening import Session, open_journal, run_with_queue
from recoverable_operate.commands.plans import command_with, plan_data, show_outcome, show_plan
from recoverable_operate.commands.terminal import DONE, NOTHING, PARTLY, REFUSED, messages
from recoverable_operate.editing import edited_body
from recoverable_operate.failed import id_of_edit
from recoverable_operate.port import ErrorQueue
from recoverable_operate.redrive import Rules
from recoverable_operate.sending.run import Redrive
from recoverable_operate.sending.settings import Settings
from recoverable_operate.sweep import Plan, choosing, plan_redrive


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_queue(parser)
    add_filter(parser)
    add_sending(parser)
    add_max_delivery_count(parser)
    parser.add_argument(
        "--edit", action="store_true", help="edit the body of one message first; it becomes another message"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Send the messages back. Return the exit status."""
    return run_with_queue(arguments, lambda session: retry(session, arguments))


def retry(session: Session, arguments: argparse.Namespace) -> int:
    """Make the plan, show it, ask, and carry it out."""
    if arguments.yes and session.queue.sends_along and not (arguments.canary or getattr(arguments, "edit", False)):
        return retry_along(session, arguments)
    plan, settings, more = Plan(), settings_of(arguments), planner(session, arguments)
    more(plan)
    show(session, arguments, plan, settings)
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
    """Send messages back while looking, for nobody is asked; print the plan when it is known to its end."""
    plan, settings = Plan(), settings_of(arguments)
    looking = choosing(session.queue, filter_of(arguments), arguments.limit, rules_of(session.queue, arguments), plan)
    with redriving(session, arguments, plan, settings) as redrive:
        outcome = redrive.run_along(plan, looking)
    show(session, arguments, plan, settings)
    if (status := status_of(plan)) is not None:
        return status
    show_outcome(session, outcome, as_json=arguments.json)
    return DONE if outcome.complete and plan.whole else PARTLY


def show(session: Session, arguments: argparse.Namespace, plan: Plan, settings: Settings) -> None:
    """Print the plan."""
    if arguments.json:
        session.terminal.data(plan_data(plan))
    else:
        show_plan(session, plan, "send", settings)


def status_of(plan: Plan) -> int | None:
    """Return the exit status when nothing is chosen; None when something is."""
    if plan.chosen:
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
