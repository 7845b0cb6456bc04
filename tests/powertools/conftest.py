"""The queues of a processor on the local SQS."""

from __future__ import annotations

from pathlib import Path

import pytest

from aws.conftest import error, orders
from servers.fixtures import bucket, moto, new_queue, sqs

__all__ = ["bucket", "error", "moto", "new_queue", "orders", "sqs"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let pytest-timeout use a thread here, for the processor's deadline needs SIGALRM."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(120, method="thread"))
