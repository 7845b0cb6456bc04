"""What the messages of a soak do to their handler, and how many runs of it each takes when nothing else goes wrong."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from recoverable import Delayed, Failed, Immediate, Message, Recoverability

ALL = 9
"""The attempts of the ladder below."""

LADDER = (Immediate(2), Delayed(2, timedelta(seconds=1)))

DAWDLE = 4
"""Seconds, which is longer than a message is locked or hidden in a soak."""


class OrderFailed(Exception):
    """Raised by an order that may do better the next time."""


class OrderRejected(Exception):
    """Raised by an order that never will."""


@dataclass(frozen=True, slots=True)
class Deed:
    """The behaviour of one kind of message.

    Args:
        misbehave: is called in its first attempts.
        attempts: so many of them; afterwards it succeeds.
        runs: of the handler in all.
    """

    misbehave: Callable[[], None]
    attempts: int
    runs: int

    @property
    def hopeless(self) -> bool:
        """True if it belongs in the error queue."""
        return self.attempts == ALL


def fail() -> None:
    raise OrderFailed


def reject() -> None:
    raise OrderRejected


def die() -> None:
    os._exit(1)


def dawdle() -> None:
    time.sleep(DAWDLE)


DEEDS = {
    "succeeds": Deed(fail, 0, 1),
    "fails once": Deed(fail, 1, 2),
    "fails for a round": Deed(fail, 3, 4),
    "fails always": Deed(fail, ALL, ALL),
    "is rejected": Deed(reject, ALL, 1),
    "dawdles once": Deed(dawdle, 1, 1),
    "kills once": Deed(die, 1, 2),
    "kills always": Deed(die, ALL, ALL),
}

SHARES = {
    "succeeds": 775,
    "fails once": 100,
    "fails for a round": 60,
    "fails always": 40,
    "is rejected": 20,
    "dawdles once": 2,
    "kills once": 2,
    "kills always": 1,
}
"""How many of a thousand messages do what."""


QUICK_SHARES = {
    "succeeds": 40,
    "fails once": 10,
    "fails for a round": 25,
    "fails always": 20,
    "is rejected": 5,
    "dawdles once": 1,
    "kills once": 1,
}
"""For few messages: many fail, so that much is sent; none kills its host each time, for that takes a minute."""


def recoverability(error_queue: str | None = None) -> Recoverability:
    """Return the ladder of all soaks: 9 attempts."""
    return Recoverability(*LADDER, Failed(error_queue, unrecoverable=(OrderRejected,)))


def plan(messages: int, seed: int, shares: Mapping[str, int] = SHARES) -> list[str]:
    """Return the deed of each message: every one once, then as their shares have it.

    Args:
        messages: how many.
        seed: draws them.
        shares: the deeds, with their weights.
    """
    drawn = random.Random(seed).choices(list(shares), list(shares.values()), k=messages - len(shares))
    return [*shares, *drawn]


def body(number: int, deed: str) -> str:
    """Return the body of a message."""
    return json.dumps({"number": number, "deed": deed})


def behave(message: Message) -> None:
    """Do what the message is there for."""
    deed = DEEDS[message.json()["deed"]]
    attempts_before = 3 * message.round + message.attempt - 1
    if deed.hopeless or attempts_before < deed.attempts:
        deed.misbehave()
