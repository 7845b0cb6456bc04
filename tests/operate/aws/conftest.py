"""A queue and its error queue on the local SQS."""

from __future__ import annotations

import pytest

from aws.conftest import NewQueue
from aws.queues import Queue
from operate.failing import dead_letters_of


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
