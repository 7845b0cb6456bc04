"""Describe a crowd: many messages of several kinds in one queue, without any fault but what their handlers do; and run it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Slow, SqsWorld

TIMEOUT = 30.0
"""Seconds of an invocation."""

QUEUE, ERRORS = "jobs", "errors"


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """A crowd of messages, and the function that they meet.

    Args:
        bodies: what each message does: "ok", "kills", "too long", "fails" or "fails 2" (then it succeeds), "takes 0.5" (seconds, then it succeeds).
        immediate: immediate retries.
        delayed: delayed retries.
        batch_size: messages of one invocation.
        concurrency: invocations at a time.
        counter: how attempts are counted.
        later: bodies that arrive one each so many seconds: seconds, then body.
        call_time: seconds that each call to SQS takes.
        visibility: seconds for which the queue hides what it gave out; Lambda allows no fewer than the invocation has.
        seed: shuffles the messages, and draws the order in which the queue hands them out.
    """

    bodies: Sequence[str]
    immediate: int = 0
    delayed: int = 0
    batch_size: int = 10
    concurrency: int = 1
    counter: str = "native"
    later: Sequence[tuple[float, str]] = ()
    call_time: float = 0.0
    visibility: int = 6 * int(TIMEOUT)
    seed: int = 0

    @property
    def attempts(self) -> int:
        """Return the attempts that the ladder grants."""
        return (self.immediate + 1) * (self.delayed + 1)


@dataclass
class Outcome:
    """What came of a crowd.

    Args:
        runs: how often each message's handler ran, by name.
        rounds: in which rounds each message ran.
        given_up: the names in the error queue, with the exception's type.
        left: the names that are still in the queue.
        copies: how many copies each message had.
    """

    runs: Counter[str] = field(default_factory=Counter)
    rounds: dict[str, Counter[int]] = field(default_factory=dict)
    given_up: dict[str, str | None] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    copies: Counter[str] = field(default_factory=Counter)


def outcome_of(crowd: Crowd) -> Outcome:
    """Run a crowd until nothing is left to do."""
    world, outcome = SqsWorld(seed=crowd.seed, most_invocations=60_000), Outcome()
    settings = Recoverability(Immediate(crowd.immediate), Delayed(crowd.delayed, timedelta(seconds=10)), Failed(ERRORS))
    endpoint: Any = SqsEndpoint(handler_in(world, outcome), settings, counter=crowd.counter)  # type: ignore[arg-type]  # one of two
    world.create_queue(ERRORS, retention=timedelta(days=14))
    receives = crowd.immediate + 6
    world.create_queue(QUEUE, visibility_timeout=crowd.visibility, dead_letter_queue=ERRORS, max_receive_count=receives)
    world.serve(
        QUEUE, endpoint, recursive_loop="Allow", batch_size=crowd.batch_size, concurrency=crowd.concurrency,
        timeout=TIMEOUT, window=1 if crowd.batch_size > 10 else 0,
    )  # fmt: skip
    for call in (
        ("send_message_batch", "delete_message_batch", "change_message_visibility_batch") if crowd.call_time else ()
    ):
        world.fail(call, Slow(timedelta(seconds=crowd.call_time)))
    bodies = [*crowd.bodies]
    Random(crowd.seed).shuffle(bodies)
    names = {world.send(QUEUE, body): f"{number} {body}" for number, body in enumerate(bodies)}
    for number, (after, body) in enumerate(crowd.later, len(bodies)):
        names[world.send(QUEUE, body, delay=timedelta(seconds=after))] = f"{number} {body}"
    world.run()
    collect(world, names, outcome)
    return outcome


def handler_in(world: SqsWorld, outcome: Outcome) -> Any:
    """Return a handler that does what a message's body says, and notes its runs by message id."""

    def handle(message: Message) -> None:
        outcome.runs[message.id] += 1
        outcome.rounds.setdefault(message.id, Counter())[message.round] += 1
        kind, _, number = message.text.rpartition(" ")
        match kind or number:
            case "kills":
                world.kill()
            case "too" if number == "long":
                world.spend(2 * TIMEOUT)
            case "fails" if not kind or outcome.runs[message.id] <= int(number):
                raise ValueError("no")
            case "takes":
                world.spend(float(number))
            case _:
                pass  # "ok", or "fails 2" that has failed twice

    return handle


def collect(world: SqsWorld, names: dict[str, str], outcome: Outcome) -> None:
    """Note by name what is in the queues, and what was sent."""
    outcome.runs = Counter({names[each]: count for each, count in outcome.runs.items()})
    outcome.rounds = {names[each]: rounds for each, rounds in outcome.rounds.items()}
    outcome.given_up = {names[message.id]: message.exception_type for message in world.queue(ERRORS)}
    outcome.left = [names[message.id] for message in world.queue(QUEUE)]
