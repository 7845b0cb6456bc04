"""Run the behaviour that a message's body describes, one word for each run of the handler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta

from proof.sends import Run, send_to_all
from recoverable import Message, RetryAfter
from recoverable_local.testing import SqsWorld
from recoverable_local.testing.engine.fault_plan import When
from recoverable_local.testing.engine.invocation import current_invocation, current_number
from recoverable_local.testing.engine.virtual import VirtualWorld

SECONDS_OF_WORK = 12.0
"""Seconds that "works", "toils" and "collapses" take of a time-out of 30 s: of three in a batch, the last is stopped."""


SECONDS_OF_HANGING = 45.0
"""Seconds for which nothing can stop "hangs": longer than the time-out of 30 s."""


SENDING = ("sends", "misdirects")
"""Words by which a handler sends."""


class Unwanted(Exception):
    """Raised for messages that a scenario's policy discards."""


class Behaving:
    """A handler that does what the body says: "fails*2 ok" fails twice and then succeeds; the last word repeats.

    "sends" before another word, such as "sends+fails", sends first; "misdirects" sends to a queue that does not exist, too.

    Args:
        world: where it runs.
        destinations: where it sends.
    """

    def __init__(self, world: VirtualWorld, destinations: tuple[str, ...] = ()) -> None:
        self._world, self._destinations, self._counts = world, destinations, Counter[str]()
        self.runs: list[Run] = []

    def __call__(self, message: Message) -> None:
        self._counts[message.id] += 1
        number, words = self._counts[message.id], script(message.text)
        word = words[min(number, len(words)) - 1]
        self.runs.append(Run(message.id, number, word, current_number(), len(self._world._journal._entries)))
        sends, _, then = word.partition("+")
        if sends in SENDING:
            send_to_all(message, self._destinations, number, misdirected=sends == "misdirects")
            word = then or "ok"
        self._end(word)

    def _end(self, word: str) -> None:  # noqa: C901  # one case for each word
        """Do what is left of the word."""
        match word:
            case "ok":
                pass
            case "fails" | "shouts":
                raise ValueError("no" if word == "fails" else "no! " * 10_000)
            case "kills":
                self._world.kill()
            case "collapses":
                self._world.spend(SECONDS_OF_WORK)
                self._world.kill()
            case "hangs":
                self._world.hang(SECONDS_OF_HANGING)
            case "works":
                self._world.spend(SECONDS_OF_WORK)
            case "unwanted":
                raise Unwanted("not for us")
            case "toils":
                self._world.spend(SECONDS_OF_WORK)
                raise ValueError("no")
            case "waits":
                raise RetryAfter(timedelta(seconds=20))
            case _:
                raise AssertionError(f"{word!r} is no behaviour")


def script(body: str) -> list[str]:
    """Return the words of a body, repeated as their numbers say; text after a colon only makes the body long."""
    words = [word.partition("*") for word in body.partition(":")[0].split()]
    return [word for word, _, times in words for _ in range(int(times or 1))]


def as_coroutine(handler: Behaving, world: SqsWorld) -> Callable[[Message], Awaitable[None]]:
    """Return the handler as a coroutine, with the points around each attempt that the world's deadline adds for plain handlers."""

    async def behaving(message: Message) -> None:
        broker_id = message.native["messageId"]
        apply_fault(world, "before", broker_id)
        handler(message)
        apply_fault(world, "after", broker_id)

    return behaving


def apply_fault(world: SqsWorld, when: When, broker_id: str) -> None:
    """Apply the explorer's fault before or after an attempt."""
    invocation = current_invocation.get()
    assert invocation is not None
    invocation.apply_fault(
        world._fault_plan.fault_at(when, "attempt", invocation.queue, (broker_id,), invocation.number)
    )
