"""Mark the tests of the local cloud, and end what they started beside the next tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test below this folder, so that `-m "not local_cloud"` leaves it out."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.local_cloud)


@pytest.fixture(scope="session")
def closing() -> Iterator[Callable[[ExitStack], None]]:
    """Close hosts beside the next tests, since each waits for the end of its long poll; what that raises is raised at the end."""
    with ThreadPoolExecutor() as beside:
        closed: list[Future[None]] = []
        yield lambda running: closed.append(beside.submit(running.close))
        for future in closed:
            future.result()
