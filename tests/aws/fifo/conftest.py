"""FIFO queues instead of standard ones."""

from __future__ import annotations

import pytest

from aws.conftest import NewQueue
from aws.queues import Queue


@pytest.fixture
def orders(new_queue: NewQueue) -> Queue:
    """Return the queue that the endpoint reads."""
    return new_queue("orders.fifo", ContentBasedDeduplication="true")


@pytest.fixture
def error(new_queue: NewQueue) -> Queue:
    """Return the error queue."""
    return new_queue("error.fifo")
