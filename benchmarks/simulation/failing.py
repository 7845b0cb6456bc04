"""Calls and dollars for each message that fails, alone, among good ones, together and by the thousand: `python benchmarks/simulation/failing.py`.

It runs the code that PYTHONPATH leads to, so an older tree can be measured by the same program:
`PYTHONPATH=$TREE/adapters:$TREE/infra/local:$TREE/benchmarks python benchmarks/simulation/failing.py`.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, NamedTuple

from recoverable import Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld
from simulation.meter import Meter
from simulation.prices import lambda_dollars, sqs_dollars

QUEUE, ERROR_QUEUE = "orders", "orders-error"
ATTEMPT_TIME = 0.02
"""Seconds of an attempt, assumed, as in docs/internals/scale.md."""


class Case(NamedTuple):
    """Messages that are there when the function is connected.

    Args:
        name: what the table calls it.
        poison: how many fail at each attempt.
        good: how many never fail.
        once: how many fail at their first attempt alone.
        instances: the most invocations at a time.
    """

    name: str
    poison: int = 0
    good: int = 0
    once: int = 0
    instances: int = 1


CASES = (
    Case("one poison", poison=1),
    Case("ten poison together", poison=10),
    Case("one poison among nine good", poison=1, good=9),
    Case("ten that fail once", once=10),
    Case("1,000 poison", poison=1_000, instances=10),
    Case("1,000 poison among 9,000 good", poison=1_000, good=9_000, instances=10),
    Case("1,000 that fail once", once=1_000, instances=10),
)


def settings(*, in_process: bool) -> Recoverability:
    """Return the defaults; a tree that cannot retry in process raises TypeError for that."""
    immediate: Any = Immediate(5, in_process=True) if in_process else Immediate(5)
    return Recoverability(immediate, failed=Failed(ERROR_QUEUE))


def row(case: Case, recoverability: Recoverability) -> str:
    """Run one case, and return its line of the table: all figures for each failing message."""
    world = SqsWorld(seed=1, most_invocations=10**9)
    meter, attempts = Meter(world, calls_take_time=True), dict[int, int]()

    def place_order(message: Message) -> None:
        number = message.json()["id"]
        meter.take(ATTEMPT_TIME)
        attempts[number] = attempts.get(number, 0) + 1
        if number < case.poison or (number < case.poison + case.once and attempts[number] == 1):
            raise ValueError("declined")

    world.create_queue(QUEUE, visibility_timeout=240, dead_letter_queue=ERROR_QUEUE, max_receive_count=50)
    total, failing = case.poison + case.once + case.good, case.poison + case.once
    for place in range(total):  # the failing ones evenly among the others
        number = place * 7 % total if total % 7 else place
        world.send(QUEUE, json.dumps({"id": number, "note": "x" * 1_000}))
    world.serve(
        QUEUE, meter.over(SqsEndpoint(place_order, recoverability)), concurrency=case.instances, recursive_loop="Allow"
    )
    world.run()
    dollars = sqs_dollars(meter.requests) + lambda_dollars(meter.invocations, meter.milliseconds / 1_000)
    runs = sum(attempts[number] for number in range(failing)) / failing
    figures = (runs, meter.calls.total() / failing, meter.requests / failing, meter.invocations / failing)
    return f"| {case.name} | {' | '.join(f'{figure:.1f}' for figure in figures)} | {dollars / failing * 1e6:.2f} |"


def main() -> None:
    """Print a table for each way of retrying that the tree has."""
    logging.disable(logging.CRITICAL)
    for name, in_process in (("by the broker", False), ("in process", True)):
        try:
            recoverability = settings(in_process=in_process)
        except TypeError:
            return
        sys.stdout.write(
            f"\n{name}\n\n| messages | attempts | calls | requests | invocations | $ a million |\n|{'---|' * 6}\n"
        )
        for case in CASES:
            sys.stdout.write(f"{row(case, recoverability)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
