"""Start Functions hosts for tests, and stop them while the next tests run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from local.functions_host.apps import app
from local.functions_host.running_functions import RunningFunctions
from recoverable_local.functions_host import Entry, LocalFunctions

Start = Callable[..., RunningFunctions]


@pytest.fixture
def start(tmp_path: Path, closing: Callable[[ExitStack], None]) -> Iterator[Start]:
    """Start a host with an app of the functions that are given; it stops with the test."""
    running = ExitStack()

    def started(
        *functions: str, host: dict[str, Any] | None = None, service_bus: dict[str, Any] | None = None, **settings: Any
    ) -> RunningFunctions:
        seen: list[Entry] = []
        document = {**(host or {}), "extensions": {"serviceBus": service_bus or {}}}
        folder = app(tmp_path, *functions, host=document)
        hosting = LocalFunctions.from_folder(folder, observe=seen.append, **settings)
        return RunningFunctions(running.enter_context(hosting), seen)

    yield started
    closing(running)
