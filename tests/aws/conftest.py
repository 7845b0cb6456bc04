"""The queues of the endpoint on the local SQS."""

from __future__ import annotations

from pathlib import Path

import pytest

from servers.fixtures import NewQueue, bucket, moto, new_queue, proxy, sqs
from servers.queues import Queue

__all__ = ["bucket", "moto", "new_queue", "proxy", "sqs"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let pytest-timeout use a thread here, for the endpoint's deadline needs SIGALRM."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(120, method="thread"))


@pytest.fixture
def orders(new_queue: NewQueue) -> Queue:
    """Return the queue that the endpoint reads."""
    return new_queue("orders")


@pytest.fixture
def error(new_queue: NewQueue) -> Queue:
    """Return the error queue."""
    return new_queue("error")
