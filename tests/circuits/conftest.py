"""The servers that shared circuits are tested on, and the queues of a trigger that is paused."""

from __future__ import annotations

from pathlib import Path

import pytest

from aws.conftest import error, orders
from azure.conftest import bus
from circuits.azure.azurite import azurite
from servers.fixtures import moto, new_queue, proxy, sqs

__all__ = ["azurite", "bus", "error", "moto", "new_queue", "orders", "proxy", "sqs"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let pytest-timeout use a thread here, for the endpoint's deadline needs SIGALRM."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(120, method="thread"))
