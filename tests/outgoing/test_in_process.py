"""Retries in process count a refused outgoing message as an attempt like others: the ladder stays as long as it is set."""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders import ERROR_QUEUE, Boom
from observe.clouds import World, climb, on_both_clouds
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable_local.testing import Refused, SqsWorld

SETTINGS = Recoverability(Immediate(3, in_process=True), Delayed(1), Failed(ERROR_QUEUE))


def refusing(world: World) -> World:
    """Return the world, whose queue of invoices refuses what is sent to it, for good."""
    calls, code = (
        ("send_message_batch", "AWS.SimpleQueueService.NonExistentQueue")
        if isinstance(world, SqsWorld)
        else ("send_messages", "amqp:unauthorized-access")
    )
    world.fail(calls, Refused(code), queue="invoices", during=timedelta(days=1))
    return world


@on_both_clouds
@pytest.mark.parametrize("failures", [0, 1, 2, 3])
def test_a_message_has_all_its_attempts_and_no_more_whatever_failed_before_the_refusal(
    world: type[World], failures: int
) -> None:
    attempts: list[tuple[int, int]] = []

    def bill(message: Message) -> None:
        attempts.append((message.round, message.attempt))
        if len(attempts) <= failures:
            raise Boom
        message.send("invoices", "invoice")

    world_of_bills = refusing(world())
    climb(world_of_bills, bill, SETTINGS)

    assert attempts == [(round_, attempt) for round_ in (0, 1) for attempt in (1, 2, 3, 4)]
    assert [given_up.exception_type for given_up in world_of_bills.queue(ERROR_QUEUE)] == [
        "recoverable.OutgoingRefused"
    ]
