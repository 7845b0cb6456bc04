"""The Powertools processor and our own endpoint in the test world: the same attempts at the same times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.powertools import RecoverableBatchProcessor
from recoverable_local.testing import SqsWorld

Runs = list[timedelta]


def native(ladder: Recoverability, fail: Callable[[], None]) -> Callable[..., Any]:
    """Return our own endpoint."""

    def handle(message: Message) -> None:
        fail()

    return SqsEndpoint(handle, ladder)


def powertools(ladder: Recoverability, fail: Callable[[], None]) -> Callable[..., Any]:
    """Return Powertools' processor."""
    processor = RecoverableBatchProcessor(ladder)

    def handle(record: SQSRecord) -> None:
        fail()

    return lambda event, context: process_partial_response(event, handle, processor, context)


def times_of_attempts(entry_point: Callable[..., Any], ladder: Recoverability) -> Runs:
    """Return when the handler ran, in seconds from the world's beginning, until its message was in the error queue."""
    world, runs = SqsWorld(), Runs()
    began = world.now

    def fail() -> None:
        runs.append(world.now - began)
        raise ValueError("no")

    world.create_queue("orders-error")
    world.serve("orders", entry_point(ladder, fail))
    world.send("orders", "order")
    world.run()

    assert [message.exception_type for message in world.queue("orders-error")] == ["ValueError"]
    return runs


@pytest.mark.parametrize(("immediate", "delayed"), [(0, 0), (1, 1), (2, 1), (5, 3)])
def test_endpoint_and_processor_make_the_same_attempts_at_the_same_times(immediate: int, delayed: int) -> None:
    ladder = Recoverability(Immediate(immediate), Delayed(delayed), Failed("orders-error"))

    attempts = times_of_attempts(native, ladder)

    assert len(attempts) == (immediate + 1) * (delayed + 1)
    assert times_of_attempts(powertools, ladder) == attempts
