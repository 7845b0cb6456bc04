"""Send example orders to the example shop on a local SQS, and show each retry.

The functions run as the template says, in AWS's own runtime client. Delays are shortened by configuration, and so is the time after which
messages come back when their process died; time is real. The longest delay by SQS is shortened, too: a message with a longer delay is
stored in a table, and a dispatcher sends it when it is due. The dispatcher runs each second instead of each minute. The exit status is 0
if each order ended where it must, else 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta

from rich.console import Console

from recoverable_local.console import print_error
from recoverable_local.demo.orders import ORDERS, Order, order_in_log_line, orders_with_bodies, parse_object
from recoverable_local.demo.progress import STORED, Event, InvocationEnded, InvocationStarted, OrderDecided, Progress
from recoverable_local.demo.redriving import HOPELESS, report_sent_back, send_group_back, show_groups
from recoverable_local.demo.result import ErrorMessage, report_counters, report_outgoing, report_result
from recoverable_local.demo.tables import error_queue_table
from recoverable_local.demo.watcher import Watcher, show_progress
from recoverable_local.lambda_host import Died, Ended, Entry, FunctionLog, Invoked, LocalAws
from recoverable_operate.errors import ErrorQueue, SqsErrorQueue, Stop, SystemClock
from recoverable_operate.templates import TemplateError

LADDER = {"ImmediateRetries": "2", "DelayedRetries": "2", "TimeIncreaseSeconds": "2"}
STORE = {"Timeouts": "true"}
REDELIVER_AFTER = timedelta(seconds=2)
INTERVAL = timedelta(seconds=1)
LONGEST_DELAY = timedelta(seconds=2)
"""The longest delay by SQS in the demo; short, so that the demo can also show a stored message."""

DISPATCHER = "recoverable.timeouts"
DEADLINE = timedelta(minutes=10)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument(
        "--template", default="template.yaml", metavar="FILE", help="the example shop's template (default: %(default)s)"
    )
    parser.add_argument("--endpoint-url", metavar="URL", help="an SQS endpoint that runs already (default: start one)")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo. Return the exit status: 0, 1 if an order did not end where it must, 2 if there is no example shop."""
    watcher = Watcher(to_event)
    try:
        host = LocalAws.from_template(
            arguments.template,
            parameters=LADDER | STORE,
            environment={"LONGEST_DELAY_SECONDS": f"{LONGEST_DELAY.seconds}"},
            redeliver_after=REDELIVER_AFTER,
            schedule_interval=INTERVAL,
            endpoint_url=arguments.endpoint_url,
            observe=watcher,
        )
    except TemplateError as error:
        return print_error("demo aws", f"{error} The example shop is in the project's repository.")
    return show(host, watcher, Console())


def show(host: LocalAws, watcher: Watcher[Entry], console: Console) -> int:
    """Send the orders, show their progress, and check the result. Return the exit status."""
    console.print(
        "AWS: two immediate and two delayed retries, so at most 9 attempts per order. The one that kills its process takes a minute.\n"
        f"Delays up to {LONGEST_DELAY.seconds} s are left to SQS here; a message with a longer delay is stored in a table."
    )
    with host:
        watcher.set_ids({host.send("orders", order.body): order for order in ORDERS})
        with show_progress(watcher, console):
            host.run_until(lambda: watcher.ended() and host.queue("orders").depth().total == 0, deadline=DEADLINE)
        found = [ErrorMessage(message.body, message.headers) for message in host.queue("orders-error").messages()]
        console.print(error_queue_table("orders-error", found))
        report_counters(watcher.counts, console)
        status = report_stored(watcher.progress, count_dispatched(host.function_log), console)
        sent = [message.body for message in host.queue("orders-placed").messages()]
        status = status or report_outgoing(watcher.progress, sent, console)
        status = status or report_result(watcher.progress, found, console)
        return status or send_back(host, watcher, console)


def to_event(entry: Entry, ids: Mapping[str, Order]) -> Event | None:
    """Convert a journal entry into an event; None if it is about no order.

    Args:
        entry: The entry.
        ids: The orders by the ids of their messages.
    """
    match entry:
        case Invoked(request_id=request_id, records=records):
            return InvocationStarted(request_id, orders_with_bodies(record["body"] for record in records))
        case Ended(request_id=request_id, outcome=outcome):
            return InvocationEnded(request_id, isinstance(outcome, Died))
        case FunctionLog(line=line):
            return logged(line, ids)
        case _:
            return None


def logged(line: str, ids: Mapping[str, Order]) -> OrderDecided | None:
    """Return what a line of the log says, which the template sets to JSON; None if it is about no order.

    A decision comes into the journal at the end of its invocation, so the deadly order takes those of its batch along; a line stays.
    """
    facts = parse_object(line)
    logger = str(facts.get("logger"))
    if logger == "shop":
        placed = order_in_log_line(str(facts.get("message")))
        return OrderDecided(placed, "complete") if placed else None
    if (order := ids.get(str(facts.get("message_id")))) is None:
        return None
    delay, attempted = float(facts.get("delay_seconds", 0)), facts.get("errorType") != "UnreportedFailure"
    action, stored = logger.removeprefix("recoverable."), delay > LONGEST_DELAY.seconds
    return OrderDecided(order, action, delay=delay, stored=stored, attempted=attempted)


def count_dispatched(lines: Iterable[FunctionLog]) -> int:
    """Return how many messages the dispatcher sent, from its log."""
    reports = (parse_object(line.line) for line in lines)
    return sum(int(facts.get("dispatched", 0)) for facts in reports if facts.get("logger") == DISPATCHER)


def send_back(host: LocalAws, watcher: Watcher[Entry], console: Console) -> int:
    """List the groups of the error queue, and send one of them back. Return 0 if it succeeds then, else 1."""
    show_groups(error_queue(host), console)
    sent = send_group_back(error_queue(host), [], console)
    with suppress(TimeoutError):  # the report says so
        host.run_until(lambda: watcher.progress.orders[HOPELESS].placed, deadline=DEADLINE)
    return report_sent_back(sent, watcher.progress, console)


def error_queue(host: LocalAws) -> ErrorQueue:
    """Return the error queue as an operator reads it."""
    queue = host.queue("orders-error")
    client = queue.sqs.client
    return SqsErrorQueue(client, queue.url, sender_for=lambda _: client, clock=SystemClock(), stop=Stop(), poll=0)


def report_stored(progress: Progress, sent: int, console: Console) -> int:
    """Print how many orders were stored in the table and how many messages were sent from there. Return 1 if that is fewer, else 0."""
    waited = [name for name, trail in progress.orders.items() if any(step.endswith(STORED) for step in trail.steps)]
    style = "bold red" if sent < len(waited) else "bold green"
    console.print(f"[{style}]{len(waited)} orders waited in the table, and the dispatcher sent {sent} from there.")
    return int(sent < len(waited))
