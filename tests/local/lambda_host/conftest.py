"""Start the broker, one per test worker, and hosts on it whose queues have unique names."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.running_lambda import RunningLambda
from local.lambda_host.templates import document, written
from recoverable_local.lambda_host import Entry, LocalAws
from recoverable_local.lambda_host.services.broker import embedded_broker

Start = Callable[..., RunningLambda]


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    with embedded_broker() as url:
        yield url


@pytest.fixture
def stack_name() -> str:
    return f"test{uuid.uuid4().hex[:12]}"


@pytest.fixture
def start(broker: str, stack_name: str, tmp_path: Path, closing: Callable[[ExitStack], None]) -> Iterator[Start]:
    """Start a host with a template made of the parts that are given; it stops with the test."""
    running = ExitStack()

    def started(*, settings: dict[str, Any] | None = None, **parts: Any) -> RunningLambda:
        seen: list[Entry] = []
        arguments = {"endpoint_url": broker, "stack_name": stack_name, **(settings or {})}
        host = LocalAws.from_template(written(tmp_path, document(**parts)), observe=seen.append, **arguments)
        return RunningLambda(running.enter_context(host), seen)

    yield started
    closing(running)
