"""Test the example function with Powertools: its handler as it is deployed, in virtual time."""

from __future__ import annotations

import pytest

from powertools import refunds
from recoverable_local.testing import SqsWorld


@pytest.fixture
def world(sqs_world: SqsWorld) -> SqsWorld:
    """Serve the function on its queue."""
    sqs_world.create_queue("error")
    sqs_world.serve("refunds", refunds.handler)
    return sqs_world


def sent(world: SqsWorld, amount: int) -> list[str]:
    """Send a refund, let the world go on until nothing is left to do, and return what its attempts ended in."""
    message_id = world.send("refunds", {"id": 1, "amount": amount})
    world.run()
    return [event.detail for event in world.timeline(message_id) if event.what == "attempted"]


def test_a_refund_is_paid_at_the_first_attempt(world: SqsWorld) -> None:
    assert (sent(world, 10), world.queue("error")) == (["succeeded"], [])


def test_a_refund_of_nothing_goes_to_the_error_queue_at_once(world: SqsWorld) -> None:
    attempts = sent(world, 0)

    [refund] = world.queue("error")
    assert (len(attempts), refund.exception_type, refund.exception_message) == (
        1,
        "powertools.refunds.NothingToRefund",
        "0 is no amount",
    )
