"""Convert the journal entries of the Lambda host into the demo's events. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recoverable_local.demo.orders import Order, order_in_log_line, orders_with_bodies, parse_object
from recoverable_local.demo.progress import Event, InvocationEnded, InvocationStarted, OrderLogged
from recoverable_local.lambda_host import Died, Ended, Entry, FunctionLog, Invoked

LONGEST_DELAY = 2
"""The longest delay by SQS in the demo, in seconds; short, so that the demo can also show a stored message."""

DISPATCHER = "recoverable.timeouts"


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
            return parse_log_line(line, ids)
        case _:
            return None


def parse_log_line(line: str, ids: Mapping[str, Order]) -> OrderLogged | None:
    """Parse a line of the function's log, which the template sets to JSON; None if it is about no order."""
    facts = parse_object(line)
    logger = str(facts.get("logger"))
    order = order_in_log_line(str(facts.get("message"))) if logger == "shop" else ids.get(str(facts.get("message_id")))
    if order is None:
        return None
    attempted = facts.get("errorType") != "UnreportedFailure"
    delay = float(facts.get("delay_seconds", 0))
    return OrderLogged(order, logger, delay=delay, stored=delay > LONGEST_DELAY, attempted=attempted)


def count_dispatched(lines: Iterable[FunctionLog]) -> int:
    """Return how many messages the dispatcher sent, from its log."""
    reports = (parse_object(line.line) for line in lines)
    return sum(int(facts.get("dispatched", 0)) for facts in reports if facts.get("logger") == DISPATCHER)
