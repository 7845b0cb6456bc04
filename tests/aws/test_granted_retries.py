"""A policy that grants more immediate retries than the setting: they go on as copies, and the broker's limit is never met."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from recoverable import (
    Action,
    Delayed,
    ErrorContext,
    Failed,
    Immediate,
    ImmediateRetry,
    Message,
    Recoverability,
    default_policy,
)
from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable.aws import SqsEndpoint
from recoverable.headers import ATTEMPTS, GRANTED, PRIOR_ATTEMPTS
from recoverable_local.testing import SqsWorld

GRANTS = 12


def patient(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Grant twelve immediate retries a round, then do as the default policy does."""
    if context.immediate_processing_failures <= GRANTS:
        return ImmediateRetry()
    return default_policy(recoverability, context)


class Handler:
    """Notes round and attempt of each run, then fails or ends the process."""

    def __init__(self, world: SqsWorld, *, kills: bool = False) -> None:
        self._world, self._kills = world, kills
        self.runs: list[tuple[int, int]] = []

    def __call__(self, message: Message) -> None:
        self.runs.append((message.round, message.attempt))
        if self._kills:
            self._world.kill()
        raise ValueError("no")


def run(
    world: SqsWorld, handler: Handler, *, queue: str = "jobs", in_process: bool = False, receives: int = 8, **more: Any
) -> None:
    """Send one message to a queue with the smallest `maxReceiveCount` that is allowed, and run."""
    errors = "errors.fifo" if queue.endswith(".fifo") else "errors"
    ladder = Recoverability(
        Immediate(2, in_process=in_process), Delayed(1, timedelta(seconds=10)), Failed(errors), policy=patient
    )
    world.create_queue(errors)
    world.create_queue(queue, visibility_timeout=180, dead_letter_queue=errors, max_receive_count=receives)
    world.serve(queue, SqsEndpoint(handler, ladder, **more), batch_size=1, timeout=30, recursive_loop="Allow")
    group: Any = {"group_id": "g", "deduplication_id": "1"} if queue.endswith(".fifo") else {}
    world.send(queue, "a", **group)
    world.run()


ALL = [(round_, attempt) for round_ in (0, 1) for attempt in range(1, GRANTS + 2)]


@pytest.mark.parametrize(
    "settings", [{}, {"counter": "header"}, {"in_process": True}], ids=["native", "header", "in process"]
)
def test_each_round_has_the_attempts_that_the_policy_grants(sqs_world: SqsWorld, settings: dict[str, Any]) -> None:
    handler = Handler(sqs_world)

    run(sqs_world, handler, **settings)

    (seen,) = sqs_world.queue("errors")
    assert (handler.runs, seen.headers[EXCEPTION_MESSAGE], seen.headers[ATTEMPTS]) == (ALL, "no", "26")
    assert seen.headers.keys().isdisjoint({GRANTED, PRIOR_ATTEMPTS})


def test_a_message_that_ends_its_process_ends_with_its_reason_and_not_by_the_redrive_policy(
    sqs_world: SqsWorld,
) -> None:
    handler = Handler(sqs_world, kills=True)

    run(sqs_world, handler)

    (seen,) = sqs_world.queue("errors")
    assert (seen.exception_type, len(handler.runs)) == ("recoverable.UnreportedFailure", 2 * (GRANTS + 3 - 1))


def test_on_a_fifo_queue_each_goes_on_in_the_next_round_and_the_reason_is_the_last_failure(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    handler, start = Handler(sqs_world), sqs_world.now

    run(sqs_world, handler, queue="jobs.fifo", receives=16)

    (seen,) = sqs_world.queue("errors.fifo")
    assert (handler.runs, seen.headers[EXCEPTION_MESSAGE]) == ([*ALL[:3], (1, 1), (1, 2), (1, 3)], "no")
    assert sqs_world.now - start >= timedelta(seconds=10)
    assert "It is the first attempt of the next round." in caplog.text
