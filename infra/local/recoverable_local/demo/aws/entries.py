"""The local Lambda's journal → what the story is told from. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recoverable_local.demo.orders import Order, parsed, placed_by, with_bodies
from recoverable_local.demo.story import Given, Happening, Heard, Over
from recoverable_local.demo.verdict import GivenUp
from recoverable_local.lambda_host import Died, Ended, Entry, FunctionLog, Invoked, QueuedMessage

LONGEST_DELAY = 2
"""Seconds; the demo has SQS delay no longer, so that a longer delay can be watched to its end."""

HEADERS = "NServiceBus.AmazonSQS.Headers"
DISPATCHER = "recoverable.timeouts"


def read(entry: Entry, ids: Mapping[str, Order]) -> Happening | None:
    """What an entry tells of the orders.

    Args:
        entry: The entry.
        ids: The orders by the ids of their messages.
    """
    match entry:
        case Invoked(request_id=request_id, records=records):
            return Given(request_id, with_bodies(record["body"] for record in records))
        case Ended(request_id=request_id, outcome=outcome):
            return Over(request_id, isinstance(outcome, Died))
        case FunctionLog(line=line):
            return heard(line, ids)
        case _:
            return None


def heard(line: str, ids: Mapping[str, Order]) -> Heard | None:
    """What a line of the function's log tells; the template has Lambda log JSON."""
    facts = parsed(line)
    logger = str(facts.get("logger"))
    order = placed_by(str(facts.get("message"))) if logger == "shop" else ids.get(str(facts.get("message_id")))
    if order is None:
        return None
    attempted = facts.get("errorType") != "UnreportedFailure"
    delay = float(facts.get("delay_seconds", 0))
    return Heard(order, logger, delay=delay, stored=delay > LONGEST_DELAY, attempted=attempted)


def dispatched(lines: Iterable[FunctionLog]) -> int:
    """How many messages the dispatcher says that it has sent."""
    reports = (parsed(line.line) for line in lines)
    return sum(int(facts.get("dispatched", 0)) for facts in reports if facts.get("logger") == DISPATCHER)


def given_up(message: QueuedMessage) -> GivenUp:
    """A message of the error queue, with the headers that its one attribute holds."""
    return GivenUp(message.body, parsed(str(message.attributes.get(HEADERS, ""))))
