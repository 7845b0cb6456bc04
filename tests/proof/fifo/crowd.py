"""Describe a crowd of message groups in a FIFO queue, with the faults that cost a delivery or a delay; and run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from recoverable import Delayed, Failed, Immediate, Message, Recoverability, RetryAfter
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Refused, SqsWorld, Throttled
from recoverable_local.testing.engine.virtual import START

TIMEOUT, VISIBILITY = 30.0, 180.0
"""Seconds of an invocation, and for which a received message is hidden."""

QUEUE, ERRORS = "jobs.fifo", "errors.fifo"
REFUSED = Refused("InternalError", status=500)


class Outage(NamedTuple):
    """An outage of Lambda: seconds until it begins, and for which no invocation starts."""

    begins: float
    lasts: float


@dataclass(frozen=True, kw_only=True)
class FifoCrowd:
    """A crowd of message groups, the function that they meet, and what goes wrong.

    Args:
        groups: what the messages of each group do, in their order: "ok", "kills", "too long", "fails" or "fails 2" (then it
            succeeds), "waits" or "waits 2" (raises RetryAfter of a second), "takes 3" (seconds, then it succeeds).
        immediate: immediate retries.
        delayed: delayed retries.
        delay: seconds of the first delay; the n-th is n times as long.
        batch_size: messages of one invocation.
        concurrency: invocations at a time.
        refused: the numbers of the visibility changes that are refused, from 1.
        outages: when no invocation starts.
        later: groups that arrive after so many seconds: seconds, then what their message does.
        seed: draws message ids.
    """

    groups: Sequence[Sequence[str]]
    immediate: int = 0
    delayed: int = 0
    delay: float = 10.0
    batch_size: int = 1
    concurrency: int = 1
    refused: Sequence[int] = ()
    outages: Sequence[Outage] = ()
    later: Sequence[tuple[float, str]] = ()
    seed: int = 0

    @property
    def attempts(self) -> int:
        """Return the attempts that the ladder grants."""
        return (self.immediate + 1) * (self.delayed + 1)

    @property
    def round_starts(self) -> list[float]:
        """Return how many seconds after the first receive each round may start."""
        return [self.delay * number * (number + 1) / 2 for number in range(self.delayed + 1)]

    @property
    def bodies(self) -> list[str]:
        """Return what all messages do."""
        return [*(body for group in self.groups for body in group), *(body for _, body in self.later)]

    @property
    def killers(self) -> int:
        """Return how many messages end their process."""
        return self.bodies.count("kills")

    @property
    def is_slow(self) -> bool:
        """True if a batch may not fit into an invocation."""
        return not {"too long", "takes 20"}.isdisjoint(self.bodies)

    @property
    def lost(self) -> int:
        """Return how many deliveries the faults can cost one message: two refusals lose a change, for one is repeated."""
        return len(self.refused) // 2 + len(self.outages)


class Run(NamedTuple):
    """One run of a handler: the message's name, the seconds since its first receive, its round and attempt."""

    name: str
    since: float
    round: int
    attempt: int


@dataclass
class Outcome:
    """What came of a crowd; a message's name is its group, its place in it, and what it does.

    Args:
        runs: the runs of the handlers, in order.
        given_up: the names in the error queue, with the exception's type.
        left: the names that are still in the queue.
    """

    runs: list[Run] = field(default_factory=list)
    given_up: dict[str, str | None] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def runs_of(self, name: str) -> list[Run]:
        """Return the runs of one message."""
        return [run for run in self.runs if run.name == name]


def outcome_of(crowd: FifoCrowd) -> Outcome:
    """Run a crowd until nothing is left to do."""
    world, outcome, names = SqsWorld(seed=crowd.seed, most_invocations=20_000), Outcome(), dict[str, str]()
    make_queues(world, crowd)
    delayed = Delayed(crowd.delayed, timedelta(seconds=crowd.delay))
    settings = Recoverability(Immediate(crowd.immediate), delayed, Failed(ERRORS))
    endpoint = SqsEndpoint(handler_in(world, outcome, names), settings)
    world.serve(
        QUEUE,
        endpoint,
        recursive_loop="Allow",
        batch_size=crowd.batch_size,
        concurrency=crowd.concurrency,
        timeout=TIMEOUT,
    )
    for number in crowd.refused:
        world.fail("change_message_visibility_batch", REFUSED, nth=number)
    for outage in crowd.outages:
        world.fail("invoke", Throttled(), after=outage.begins, during=outage.lasts)
    for group, bodies in enumerate(crowd.groups):
        for place, body in enumerate(bodies):
            send(world, names, group, place, body)
    for group, (after, body) in enumerate(sorted(crowd.later), len(crowd.groups)):
        run_until(world, after)
        send(world, names, group, 0, body)
    world.run()
    outcome.given_up = {names[message.id]: message.exception_type for message in world.queue(ERRORS)}
    outcome.left = [names[message.id] for message in world.queue(QUEUE)]
    return outcome


def make_queues(world: SqsWorld, crowd: FifoCrowd) -> None:
    """Make the queues, with the smallest `maxReceiveCount` that the documentation allows."""
    world.create_queue(ERRORS, retention=timedelta(days=14))
    receives = crowd.attempts + 10
    world.create_queue(
        QUEUE,
        visibility_timeout=VISIBILITY,
        retention=timedelta(days=14),
        dead_letter_queue=ERRORS,
        max_receive_count=receives,
    )


def send(world: SqsWorld, names: dict[str, str], group: int, place: int, body: str) -> None:
    """Send one message, and note its name."""
    name = f"{group}.{place} {body}"
    names[world.send(QUEUE, body, group_id=f"g{group}", deduplication_id=name.replace(" ", "-"))] = name


def run_until(world: SqsWorld, seconds: float) -> None:
    """Run the world until so many seconds after its beginning; a handler that takes longer is finished first."""
    world.run(for_=max(seconds - (world.now - START).total_seconds(), 0))


def handler_in(world: SqsWorld, outcome: Outcome, names: dict[str, str]) -> Callable[[Message], None]:
    """Return a handler that does what a message's body says, and notes its runs."""

    def handle(message: Message) -> None:
        name = names[message.id]
        outcome.runs.append(Run(name, since_first_receive(message, world.now), message.round, message.attempt))
        kind, _, number = message.text.rpartition(" ")
        is_over = kind in ("fails", "waits") and len(outcome.runs_of(name)) > int(number)
        match kind or number:
            case "kills":
                world.kill()
            case "too":  # long
                world.spend(2 * TIMEOUT)
            case "fails" if not is_over:
                raise ValueError("no")
            case "waits" if not is_over:
                raise RetryAfter(timedelta(seconds=1))
            case "takes":
                world.spend(float(number))
            case _:
                pass  # "ok", or "fails 2" that has failed twice

    return handle


def since_first_receive(message: Message, now: datetime) -> float:
    """Return the seconds since the queue first delivered the message."""
    first = int(message.native["attributes"]["ApproximateFirstReceiveTimestamp"]) / 1000
    return now.timestamp() - first
