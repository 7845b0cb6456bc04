"""What the tests of the local host share: one broker a worker, and hosts on it whose queues nobody else has."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from local.templates import document, written
from local.world import World
from recoverable.local.aws import Entry, LocalAws
from recoverable.local.aws.broker import embedded_broker

Start = Callable[..., World]


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    with embedded_broker() as url:
        yield url


@pytest.fixture
def stack_name() -> str:
    return f"test{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def closing() -> Iterator[Callable[[ExitStack], None]]:
    """Close hosts beside the next tests, since each waits for the end of its long poll; what that raises is raised at the end."""
    with ThreadPoolExecutor() as beside:
        closed: list[Future[None]] = []
        yield lambda running: closed.append(beside.submit(running.close))
        for future in closed:
            future.result()


@pytest.fixture
def start(
    broker: str, stack_name: str, tmp_path: Path, closing: Callable[[ExitStack], None]
) -> Iterator[Start]:
    """Start a host with a template made of the parts that are given; it stops with the test."""
    running = ExitStack()

    def started(*, settings: dict[str, Any] | None = None, **parts: Any) -> World:
        seen: list[Entry] = []
        arguments = {"endpoint_url": broker, "stack_name": stack_name, **(settings or {})}
        host = LocalAws.from_template(written(tmp_path, document(**parts)), observe=seen.append, **arguments)
        return World(running.enter_context(host), seen)

    yield started
    closing(running)
