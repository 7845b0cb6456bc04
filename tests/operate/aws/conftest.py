"""A queue and its error queue on the local SQS."""

from __future__ import annotations

import pytest

from operate.aws.failing import dead_letters_of
from servers.fixtures import NewQueue, bucket, moto, new_queue, proxy, sqs
from servers.queues import Queue

__all__ = ["bucket", "moto", "new_queue", "proxy", "sqs"]


@pytest.fixture
def orders(new_queue: NewQueue) -> Queue:
    """Return the queue where messages fail."""
    return new_queue("orders")


@pytest.fixture
def error(new_queue: NewQueue, orders: Queue) -> Queue:
    """Return its error queue."""
    error = new_queue("error")
    dead_letters_of(error, orders)
    return error
