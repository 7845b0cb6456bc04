"""Describe a crowd: many messages of several kinds in one queue, and what goes wrong besides; and run it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any
from unittest.mock import patch

from proof.crowds.fronts import BLOCKED, TIMEOUT, Act, front_of
from proof.crowds.watching import Watch
from proof.lineage import origin_from
from proof.policies import Granting
from proof.sqs.lineage import traced
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws._batch import MAX_CONCURRENCY
from recoverable.extensions import Heartbeat
from recoverable.headers import ORIGIN, PRIOR_ATTEMPTS
from recoverable_local.testing import EndlessRun, Refused, Slow, SqsWorld

QUEUE, ERRORS = "jobs", "errors"

MOST_INVOCATIONS = 150
"""Invocations for each message after which a crowd is called endless."""

CLOCKS = 2.0
"""Seconds by which an invocation must begin before its messages are shown to others: a second for the clocks, and one for a call."""


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """A crowd of messages, and the function that they meet.

    Args:
        bodies: what each message does: "ok", "kills", "too long", "fails" or "fails 2" (then it succeeds), "takes 0.5" (seconds, then it
            succeeds), "blocks" (too long, and a coroutine stops all beside it).
        immediate: immediate retries.
        granted: immediate retries of a round that a policy grants besides.
        delayed: delayed retries.
        step: seconds that the first delayed retry waits; beyond 900 its copy hops.
        batch_size: messages of one invocation.
        concurrency: invocations at a time.
        counter: how attempts are counted.
        front: what the function is; see `fronts`.
        carried: attempts that every third message has behind it, as a copy that carries its count.
        later: bodies that arrive one each so many seconds: seconds, then body.
        call_time: seconds that each call to SQS takes.
        visibility: seconds for which the queue hides what it gave out.
        window: seconds for which the mapping waits for a batch to fill; batches of more than ten need one.
        late: seconds after which each invocation starts, because the function is throttled: 1, 3, 7, 15, 31, 63 or 123.
        lowered: after how many seconds the queue hides for a shorter time, and for how many seconds then.
        unanswered: how likely it is that a change of visibility, which a beat is too, does not arrive, and that its answer does not.
        denied: a call that the function's role may not make.
        context: False where the handler is called without Lambda's context.
        partial: False where the mapping has no ReportBatchItemFailures.
        in_process: whether first deliveries are retried inside their invocation.
        heartbeat: seconds for which messages are hidden at a time; 0 for no heartbeat.
        managed: whether the function runs on Lambda Managed Instances.
        faults: how many faults there may be besides.
        seed: shuffles the messages, draws the faults, and the order in which the queue hands the messages out.
    """

    bodies: Sequence[str]
    immediate: int = 0
    granted: int = 0
    delayed: int = 0
    step: float = 10
    batch_size: int = 10
    concurrency: int = 1
    counter: str = "native"
    front: str = "plain"
    carried: int = 0
    later: Sequence[tuple[float, str]] = ()
    call_time: float = 0.0
    visibility: int = 6 * int(TIMEOUT)
    window: float = 0.0
    late: float = 0.0
    lowered: tuple[float, int] | None = None
    unanswered: float = 0.0
    denied: str = ""
    context: bool = True
    partial: bool = True
    in_process: bool = False
    heartbeat: float = 0.0
    managed: bool = False
    faults: int = 0
    seed: int = 0

    @property
    def attempts(self) -> int:
        """Return the attempts that the ladder and the policy grant."""
        return (self.retries + 1) * (self.delayed + 1)

    @property
    def retries(self) -> int:
        """Return the immediate retries of a round, with those that the policy grants."""
        return self.immediate + self.granted

    @property
    def overlaps(self) -> bool:
        """True if a delivery may outlive its visibility timeout, so that another begins beside it."""
        return self.lowered is not None or self.window + self.late + TIMEOUT > self.visibility

    @property
    def is_plain(self) -> bool:
        """True if the function gets Lambda's context and each answer, and no delivery outlives its visibility timeout."""
        return self.context and not self.unanswered and not self.overlaps

    @property
    def begins_hidden(self) -> bool:
        """True if each invocation begins two seconds before its messages are shown to others."""
        return self.lowered is None and self.window + self.late <= self.visibility - CLOCKS


@dataclass
class Outcome:
    """What came of a crowd; messages have their names.

    Args:
        runs: how often each message's handler ran.
        succeeded: how often it succeeded.
        times: when it ran: round, and seconds.
        given_up: those in the error queue, with the exception's type; None if one of a message's copies there has none.
        left: those that are still in the queue.
        copies: how many copies each had in the queue.
        error_copies: how many copies each has in the error queue.
        explained: those in the error queue of which a copy has a reason.
        lineage: of each copy, what it was copied from, by the broker's ids, in the order of the copies.
        sent_at: the seconds at which each broker message was sent.
        owners: the names by the broker's ids.
        unreported: how many deliveries each lost by the end of a process.
        tried: those that had to be tried alone, with the round.
        struck: the faults.
        endless: True if it would have gone on for ever.
    """

    runs: Counter[str] = field(default_factory=Counter)
    succeeded: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    given_up: dict[str, str | None] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    copies: Counter[str] = field(default_factory=Counter)
    error_copies: Counter[str] = field(default_factory=Counter)
    explained: set[str] = field(default_factory=set)
    sent_at: dict[str, float] = field(default_factory=dict)
    lineage: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    unreported: Counter[str] = field(default_factory=Counter)
    tried: set[tuple[str, int]] = field(default_factory=set)
    struck: list[str] = field(default_factory=list)
    endless: bool = False


def outcome_of(crowd: Crowd) -> Outcome:
    """Run a crowd until nothing is left to do."""
    world, outcome = (
        SqsWorld(seed=crowd.seed, most_invocations=MOST_INVOCATIONS * len([*crowd.bodies, *crowd.later])),
        Outcome(),
    )
    watch = Watch(crowd, world, QUEUE)
    world.ask_at_each_point(watch)
    serve(crowd, world, act_in(crowd, world, watch, outcome))
    names = send_all(crowd, world)
    with traced():
        try:
            world.run()
        except EndlessRun:
            outcome.endless = True
    collect(world, watch, names, outcome)
    return outcome


def serve(crowd: Crowd, world: SqsWorld, act: Act) -> None:
    """Make the queues, and connect the function."""
    immediate = Immediate(crowd.immediate, in_process=crowd.in_process)
    delayed, policy = Delayed(crowd.delayed, timedelta(seconds=crowd.step)), Granting(crowd.granted)
    settings = Recoverability(immediate, delayed, Failed(ERRORS), policy=policy if crowd.granted else None)
    world.create_queue(ERRORS, retention=timedelta(days=14))
    receives = crowd.immediate + 6

    def hide_for(seconds: float) -> None:
        world.create_queue(QUEUE, visibility_timeout=seconds, dead_letter_queue=ERRORS, max_receive_count=receives)

    hide_for(max(crowd.visibility, TIMEOUT))  # Lambda compares it with the function's time-out now, and never again
    extensions = (Heartbeat(timedelta(seconds=crowd.heartbeat)),) if crowd.heartbeat else ()
    more: dict[str, Any] = {} if crowd.partial else {"partial_responses": False}
    with patch.dict(os.environ, {MAX_CONCURRENCY: "4"} if crowd.managed else {}):
        front = front_of(crowd.front, world, act, settings, counter=crowd.counter, extensions=extensions, **more)
    world.serve(
        QUEUE, front if crowd.context else lambda event, _: front(event, None), recursive_loop="Allow",
        batch_size=crowd.batch_size, concurrency=crowd.concurrency, timeout=TIMEOUT, partial_responses=crowd.partial,
        window=crowd.window or (1 if crowd.batch_size > 10 else 0),
        managed_instances=crowd.managed,
    )  # fmt: skip
    hide_for(crowd.visibility)
    if crowd.lowered is not None:
        after, seconds = crowd.lowered
        world.at(after, lambda: hide_for(seconds))
    if crowd.denied:
        world.fail(crowd.denied, Refused("AccessDenied"))
    for call in (
        ("send_message_batch", "delete_message_batch", "change_message_visibility_batch") if crowd.call_time else ()
    ):
        world.fail(call, Slow(timedelta(seconds=crowd.call_time)))


def send_all(crowd: Crowd, world: SqsWorld) -> dict[str, str]:
    """Send all messages, and return their names by id."""
    bodies = [*crowd.bodies]
    Random(crowd.seed).shuffle(bodies)
    arrivals = [*((0.0, body) for body in bodies), *crowd.later]
    names = {}
    for number, (after, body) in enumerate(arrivals):
        carried = json.dumps({ORIGIN: str(number), PRIOR_ATTEMPTS: str(carried_by(crowd, number))})
        attributes = {"NServiceBus.AmazonSQS.Headers": carried} if carried_by(crowd, number) else None
        names[world.send(QUEUE, body, attributes=attributes, delay=timedelta(seconds=int(after)))] = f"{number} {body}"
    return names


def carried_by(crowd: Crowd, number: int) -> int:
    """Return the attempts that a message has behind it when it comes."""
    return 0 if number % 3 else min(crowd.carried, crowd.immediate)


def act_in(crowd: Crowd, world: SqsWorld, watch: Watch, outcome: Outcome) -> Act:
    """Return a function that says what a message does, and notes its runs by message id."""

    def act(message: Message) -> tuple[str, float]:
        outcome.runs[message.id] += 1
        outcome.times.setdefault(message.id, []).append((message.round, world.now.timestamp()))
        kind, _, number = message.text.partition(" ")
        match kind:
            case "kills":
                watch.note_end()
                return "kills", 0
            case "blocks":
                watch.note_block(BLOCKED if crowd.front == "coroutines" else 0)
                return "blocks", 2 * TIMEOUT
            case "too":
                return "spends", 2 * TIMEOUT
            case "fails" if not number or outcome.runs[message.id] <= int(number):
                return "fails", 0
            case _:  # "ok", "takes 0.5", or "fails 2" that has failed twice
                outcome.succeeded[message.id] += 1
                return "spends", float(number) if kind == "takes" else 0

    return act


def collect(world: SqsWorld, watch: Watch, names: dict[str, str], outcome: Outcome) -> None:
    """Note by name what is in the queues, and what was sent."""
    outcome.runs = Counter({names[each]: count for each, count in outcome.runs.items()})
    outcome.succeeded = Counter({names[each]: count for each, count in outcome.succeeded.items()})
    outcome.times = {names[each]: times for each, times in outcome.times.items()}
    errors = sorted(world.queue(ERRORS), key=lambda message: message.exception_type is None)
    outcome.given_up = {names[message.id]: message.exception_type for message in errors}
    outcome.error_copies = Counter(names[message.id] for message in world.queue(ERRORS))
    outcome.left = [names[message.id] for message in world.queue(QUEUE)]
    sent = [
        world._identity(broker_id)
        for broker_id, (queue, _) in world._broker.all.items()
        if queue.settings.name == QUEUE
    ]
    outcome.explained = {names[message.id] for message in errors if message.exception_type is not None}
    outcome.sent_at = {broker_id: message.sent_at for broker_id, (_, message) in world._broker.all.items()}
    outcome.owners = {broker_id: names[world._identity(broker_id)] for broker_id in world._broker.all}
    origins = {broker_id: origin_from(message.trace) for broker_id, (_, message) in world._broker.all.items()}
    outcome.lineage = {broker_id: origin.parent for broker_id, origin in origins.items() if origin is not None}
    outcome.copies = Counter(names[each] for each in sent) - Counter(names.values())
    outcome.unreported = Counter({names[each]: count for each, count in watch.unreported.items()})
    outcome.tried = {(names[each], round_) for each, round_ in watch.tried}
    outcome.struck = watch.struck
