"""An outage on SQS in virtual time: who is attempted, who waits, and where all end."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from recoverable import Delayed, Immediate, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.testing import SqsWorld

OUTAGE = timedelta(minutes=10)
SHORT_LADDER = Recoverability(Immediate(1), Delayed(0))


class Database:
    """A handler that fails until the outage is over, and notes when it was tried.

    Args:
        world: whose time it lives in.
    """

    def __init__(self, world: SqsWorld) -> None:
        self._world, self._over = world, world.now + OUTAGE
        self.failed: list[datetime] = []
        self.placed: list[str] = []

    def __call__(self, message: Message) -> None:
        """Fail, or place the order."""
        if self._world.now < self._over:
            self.failed.append(self._world.now)
            raise ConnectionError
        self.placed.append(message.id)


def served(world: SqsWorld, limit: RateLimit | None, orders: int = 50) -> tuple[Database, list[str]]:
    """The database after the outage, and the orders that were sent before it."""
    database = Database(world)
    settings = SHORT_LADDER.__replace__(rate_limit=limit)
    world.create_queue("orders", dead_letter_queue="error", max_receive_count=100)
    world.serve("orders", SqsEndpoint(database, settings), recursive_loop="Allow")
    sent = [world.send("orders", "a card") for _ in range(orders)]
    world.run()
    return database, sent


def test_without_a_limit_an_outage_moves_all_to_the_error_queue(sqs_world: SqsWorld) -> None:
    database, sent = served(sqs_world, None)

    assert (database.placed, len(sqs_world.queue("error"))) == ([], len(sent))


def test_with_a_limit_all_wait_for_the_end_of_the_outage(sqs_world: SqsWorld) -> None:
    database, sent = served(sqs_world, RateLimit(3))

    assert (sorted(database.placed), sqs_world.queue("error")) == (sorted(sent), [])


@pytest.mark.parametrize("wait", [1, 10])
def test_while_limited_attempts_are_apart(sqs_world: SqsWorld, wait: int) -> None:
    database, _ = served(sqs_world, RateLimit(3, timedelta(seconds=wait)))

    opened = database.failed[2:]
    assert len(opened) > 3
    assert min(after - before for before, after in pairwise(opened)) >= timedelta(seconds=wait)
