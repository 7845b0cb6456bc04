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
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from recoverable.operate.commands.arguments import (
    add_filter,
    add_json,
    add_max_delivery_count,
    add_queue,
    add_sending,
    filter_of,
)
from recoverable.operate.commands.opening import Session, open_journal, run_with_queue
from recoverable.operate.commands.plans import command_with, plan_data, show_outcome, show_plan
from recoverable.operate.commands.terminal import DONE, NOTHING, PARTLY, REFUSED, messages
from recoverable.operate.editing import edited_body
from recoverable.operate.failed import id_of_edit
from recoverable.operate.port import ErrorQueue
from recoverable.operate.redrive import Rules
from recoverable.operate.sending import Outcome, Redrive, Settings
from recoverable.operate.sweep import Plan, plan_redrive


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
    plan, settings, more = Plan(), settings_of(arguments), planner(session, arguments)
    more(plan)
    if arguments.json:
        session.terminal.data(plan_data(plan))
    else:
        show_plan(session, plan, "send", settings)
    if session.stop.requested or not plan.matched:
        return NOTHING
    if not plan.chosen:
        return REFUSED
    if getattr(arguments, "edit", False):
        body = edited_body(plan)
        settings = replace(settings, new_body=body, new_id=id_of_edit(plan.last, body) if plan.last else None)
    if not agreed(session, arguments, f"Send {messages(plan.chosen)}?"):
        return DONE
    outcome = carry_out(session, arguments, plan, settings, more)
    show_outcome(session, outcome, as_json=arguments.json)
    return DONE if outcome.complete and plan.whole else PARTLY


def planner(session: Session, arguments: argparse.Namespace) -> Callable[[Plan], None]:
    """Return what looks at the queue and chooses, as often as it is called."""
    rules, wanted = rules_of(session.queue, arguments), filter_of(arguments)
    return lambda plan: plan_redrive(session.queue, wanted, arguments.limit, rules, plan)


def carry_out(
    session: Session, arguments: argparse.Namespace, plan: Plan, settings: Settings, more: Callable[[Plan], None]
) -> Outcome:
    """Send what is chosen. On a FIFO queue look again, until no more of any group appears."""
    with closing(open_journal(arguments, session.clock)) as journal, session.terminal.progress(plan.chosen) as progress:
        redrive = Redrive(
            session.queue, journal, settings, clock=session.clock, stop=session.stop,
            progress=lambda outcome: progress(outcome.settled, plan.chosen),
        )  # fmt: skip
        return redrive.run_groups(plan, more)


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
    allowed = [] if arguments.to else queue.sources()
    return Rules(
        queue.address,
        frozenset((*allowed, *map(queue.canonical, arguments.allow))),
        queue.canonical(arguments.to) if arguments.to else None,
        queue.canonical,
    )


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return how messages are sent."""
    return Settings(
        rate=arguments.rate, delay=arguments.delay, canary=arguments.canary, canary_wait=arguments.canary_wait
    )
