"""Convert the journal entries of the Functions host into the demo's events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta

from recoverable_local.demo.orders import Order, order_in_log_line, orders_with_bodies
from recoverable_local.demo.progress import Event, InvocationEnded, InvocationStarted, OrderLogged
from recoverable_local.demo.result import ErrorMessage
from recoverable_local.functions_host import Died, Ended, Entry, FunctionLog, Invoked
from recoverable_local.service_bus import SeenMessage

SHOP = re.compile(r"[A-Z]+ shop: (?P<text>.*)")
RETRY_LOG = re.compile(r"[A-Z]+ (?P<logger>recoverable\.\w+): [^']*'(?P<id>[^']*)'(?P<rest>.*)")
DELAY = re.compile(r"after a delay of (\d+):(\d+):(\d+(?:\.\d+)?)")
UNREPORTED = "recoverable.UnreportedFailure"


class EntryConverter:
    """Converts the journal entries of one host.

    A delivery has only a sequence number, and a copy's differs from its original's. So the order is found by the message's body in the
    queue, where the message stays while it is locked. An entry of the retry log has at least two lines; the exception starts on the second.

    Args:
        queued_bodies: Returns the bodies of the messages in the queue, by sequence number.
    """

    def __init__(self, queued_bodies: Callable[[], Mapping[int, str]]) -> None:
        self._queued_bodies = queued_bodies
        self._previous_line: dict[int, str] = {}

    def __call__(self, entry: Entry, ids: Mapping[str, Order]) -> Event | None:
        """Convert a journal entry into an event; None if it is about no order.

        Args:
            entry: The entry.
            ids: The orders by the ids of their messages.
        """
        match entry:
            case Invoked(invocation_id=invocation, messages=messages):
                bodies = self._queued_bodies()
                return InvocationStarted(
                    invocation, orders_with_bodies(bodies.get(each.sequence_number, "") for each in messages)
                )
            case Ended(invocation_id=invocation, outcome=outcome):
                return InvocationEnded(invocation, isinstance(outcome, Died))
            case FunctionLog(pid=pid, line=line):
                previous, self._previous_line[pid] = self._previous_line.get(pid, ""), line
                return parse_log_lines(previous, line, ids)
            case _:
                return None


def parse_log_lines(previous: str, line: str, ids: Mapping[str, Order]) -> OrderLogged | None:
    """Parse two lines of the function's log: the second is the shop's, or they are the retry log's and the exception's first."""
    if shop := SHOP.fullmatch(line):
        order = order_in_log_line(shop["text"])
        return OrderLogged(order, "shop") if order else None
    if (entry := RETRY_LOG.fullmatch(previous)) and (order := ids.get(entry["id"])):
        attempted = not line.startswith(UNREPORTED)
        return OrderLogged(order, entry["logger"], delay=delay_in(entry["rest"]), attempted=attempted)
    return None


def delay_in(text: str) -> float:
    """Return the delay in a log line, in seconds; 0 if there is none."""
    if (found := DELAY.search(text)) is None:
        return 0
    hours, minutes, seconds = map(float, found.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds()


def to_error_message(message: SeenMessage) -> ErrorMessage:
    """Convert a message of the error queue."""
    return ErrorMessage(text_of(message), message.application_properties)


def text_of(message: SeenMessage) -> str:
    """Decode a message's body."""
    return message.body.decode(errors="replace")
