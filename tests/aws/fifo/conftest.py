"""FIFO queues instead of standard ones."""

from __future__ import annotations

import pytest

from servers.fixtures import NewQueue
from servers.queues import Queue


@pytest.fixture
def orders(new_queue: NewQueue) -> Queue:
    """Return the queue that the endpoint reads."""
    return new_queue("orders.fifo", ContentBasedDeduplication="true")


@pytest.fixture
def error(new_queue: NewQueue) -> Queue:
    """Return the error queue."""
    return new_queue("error.fifo")
