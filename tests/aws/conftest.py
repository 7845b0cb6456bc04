"""The queues of the endpoint on the local SQS."""

from __future__ import annotations

import pytest

from servers.fixtures import NewQueue, bucket, moto, new_queue, proxy, sqs
from servers.queues import Queue

__all__ = ["bucket", "moto", "new_queue", "proxy", "sqs"]


@pytest.fixture
def orders(new_queue: NewQueue) -> Queue:
    """Return the queue that the endpoint reads."""
    return new_queue("orders")


@pytest.fixture
def error(new_queue: NewQueue) -> Queue:
    """Return the error queue."""
    return new_queue("error")
