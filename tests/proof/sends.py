"""Send from the handlers of scenarios, and read from a replay what was sent by which run."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from recoverable import Message

TOPIC = "topic"
"""How the names of topics begin."""

NOWHERE = "nowhere"
"""A queue that does not exist."""

ALIKE = ("a", "b")
"""What each run sends alike, besides what only it sends."""


class Run(NamedTuple):
    """One run of a handler.

    Args:
        message_id: the message's id.
        number: which of its runs.
        word: what it did.
        invocation: in which invocation.
        began: as the how manyth event of the replay it began.
    """

    message_id: str
    number: int
    word: str
    invocation: int
    began: int


class Sent(NamedTuple):
    """A message that a handler sent, as it reached its queue.

    Args:
        id: its id, by which repetitions are known.
        to: the queue or topic.
        body: its text.
        event: as the how manyth event of the replay it was sent.
        at: when, in seconds of the world.
        invocation: in which invocation.
        dropped: whether it was dropped as a duplicate.
    """

    id: str
    to: str
    body: str
    event: int
    at: float
    invocation: int
    dropped: bool


def send_to_all(message: Message, destinations: tuple[str, ...], run: int, *, misdirected: bool) -> None:
    """Send to each destination what each run sends, in another order each time, and what only this run sends, in its order."""
    alike = [(to, alike_body(message.id, what)) for to in destinations for what in ALIKE]
    Random(f"{message.id} {run}").shuffle(alike)
    own = [(to, own_body(message.id, run, part)) for part, to in enumerate(destinations)]
    for to, body in alike + own:
        send = message.publish if to.startswith(TOPIC) else message.send
        send(to, body, group_id="g")
    if misdirected:
        message.send(NOWHERE, "for nobody")


def alike_body(message_id: str, what: str) -> str:
    """Return what each run of a message sends."""
    return f"{message_id} {what}"


def own_body(message_id: str, run: int, part: int) -> str:
    """Return what one run alone sends, by its number and its place among what that run sends."""
    return f"{message_id} run {run} part {part}"


def run_of(sent: Sent) -> tuple[str, int] | None:
    """Return the message and the number of the run that sent this; None for what each run sends."""
    message_id, *words = sent.body.split()
    return (message_id, int(words[1])) if words[0] == "run" else None


def ends_of(runs: list[Run], ended: Mapping[tuple[int, str], list[tuple[int, str]]]) -> dict[tuple[str, int], str]:
    """Return how each run ended, by message and number; nothing for one that did not.

    Args:
        runs: the runs.
        ended: the number and the text of each event by which an attempt ended, by invocation and message.
    """
    found: dict[tuple[str, int], str] = {}
    for run in runs:
        after = [how for event, how in ended.get((run.invocation, run.message_id), ()) if event >= run.began]
        found[run.message_id, run.number] = after[0] if after else ""
    return found
