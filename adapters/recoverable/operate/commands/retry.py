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
from recoverable.operate.commands.terminal import DONE, NOTHING, PARTLY, REFUSED
from recoverable.operate.port import ErrorQueue
from recoverable.operate.redrive import Rules
from recoverable.operate.sending import Redrive, Settings
from recoverable.operate.sweep import Plan, plan_redrive


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_queue(parser)
    add_filter(parser)
    add_sending(parser)
    add_max_delivery_count(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Send the messages back. Return the exit status."""
    return run_with_queue(arguments, lambda session: retry(session, arguments))


def retry(session: Session, arguments: argparse.Namespace) -> int:
    """Make the plan, show it, ask, and carry it out."""
    plan, settings = Plan(), settings_of(arguments)
    rules = rules_of(session.queue, arguments)
    plan_redrive(session.queue, filter_of(arguments), arguments.limit, rules, plan)
    if arguments.json:
        session.terminal.data(plan_data(plan))
    else:
        show_plan(session, plan, "send", settings)
    if session.stop.requested or not plan.matched:
        return NOTHING
    if not plan.chosen:
        return REFUSED
    if not agreed(session, arguments, f"Send {plan.chosen} messages?"):
        return DONE
    return carry_out(session, arguments, plan, settings)


def carry_out(session: Session, arguments: argparse.Namespace, plan: Plan, settings: Settings) -> int:
    """Send what is chosen, and print what became of it."""
    journal = open_journal(arguments, session.clock)
    try:
        redrive = Redrive(session.queue, journal, settings, clock=session.clock, stop=session.stop)
        redrive.run()
    finally:
        journal.close()
        show_outcome(session, redrive.outcome, as_json=arguments.json)
    return DONE if redrive.outcome.complete and not plan.refused and not plan.ending else PARTLY


def agreed(session: Session, arguments: argparse.Namespace, question: str) -> bool:
    """True if it is to be done; where nobody can be asked, print the command that does it."""
    if arguments.yes:
        return True
    if session.terminal.interactive:
        return session.terminal.agrees(question)
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
