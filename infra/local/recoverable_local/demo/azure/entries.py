"""The local Functions host's journal → what the story is told from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta

from recoverable_local.demo.orders import Order, placed_by, with_bodies
from recoverable_local.demo.story import Given, Happening, Heard, Over
from recoverable_local.demo.verdict import GivenUp
from recoverable_local.functions_host import Died, Ended, Entry, FunctionLog, Invoked
from recoverable_local.service_bus import SeenMessage

SHOP = re.compile(r"[A-Z]+ shop: (?P<text>.*)")
LADDER = re.compile(r"[A-Z]+ (?P<logger>recoverable\.\w+): [^']*'(?P<id>[^']*)'(?P<rest>.*)")
DELAY = re.compile(r"after a delay of (\d+):(\d+):(\d+(?:\.\d+)?)")
UNREPORTED = "recoverable.UnreportedFailure"


class Reader:
    """Reads the journal of one host.

    A delivery is known by its sequence number alone, and a copy has another than its original: the queue, in which the message stands as
    long as it is locked, tells which order it is. Of the retry log an entry takes two lines at least, the second of which begins the exception.

    Args:
        look: Gives the bodies of what is in the queue, by sequence number.
    """

    def __init__(self, look: Callable[[], Mapping[int, str]]) -> None:
        self._look = look
        self._before: dict[int, str] = {}

    def __call__(self, entry: Entry, ids: Mapping[str, Order]) -> Happening | None:
        """What an entry tells of the orders.

        Args:
            entry: The entry.
            ids: The orders by the ids of their messages.
        """
        match entry:
            case Invoked(invocation_id=invocation, messages=messages):
                bodies = self._look()
                return Given(invocation, with_bodies(bodies.get(each.sequence_number, "") for each in messages))
            case Ended(invocation_id=invocation, outcome=outcome):
                return Over(invocation, isinstance(outcome, Died))
            case FunctionLog(pid=pid, line=line):
                before, self._before[pid] = self._before.get(pid, ""), line
                return heard(before, line, ids)
            case _:
                return None


def heard(before: str, line: str, ids: Mapping[str, Order]) -> Heard | None:
    """What two lines of the function's log tell: one of the shop's, or one of the retry log's and the exception's first."""
    if shop := SHOP.fullmatch(line):
        order = placed_by(shop["text"])
        return Heard(order, "shop") if order else None
    if (entry := LADDER.fullmatch(before)) and (order := ids.get(entry["id"])):
        attempted = not line.startswith(UNREPORTED)
        return Heard(order, entry["logger"], delay=delay_in(entry["rest"]), attempted=attempted)
    return None


def delay_in(text: str) -> float:
    """The delay that a line tells, in seconds; none in a line that tells none."""
    if (found := DELAY.search(text)) is None:
        return 0
    hours, minutes, seconds = map(float, found.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds()


def given_up(message: SeenMessage) -> GivenUp:
    """A message of the error queue."""
    return GivenUp(text_of(message), message.application_properties)


def text_of(message: SeenMessage) -> str:
    """The body as it was sent."""
    return message.body.decode(errors="replace")
