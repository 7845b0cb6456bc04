"""Provide the stores and the clouds as fixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from recoverable.timeouts import Store
from waiting.stores import CLOUDS, Cloud, in_tables, sqlite

NewStore = Callable[[], Store]

MINISTACK = pytest.param("ministack", marks=[pytest.mark.slow, pytest.mark.xdist_group("timeouts-ministack")])
REAL = ["moto", MINISTACK]


@pytest.fixture(scope="session")
def clouds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Cloud]]:
    """Return a function that starts a server when it is first asked for."""
    with ExitStack() as stack:
        running: dict[str, Cloud] = {}

        def cloud(name: str) -> Cloud:
            if name not in running:
                running[name] = stack.enter_context(CLOUDS[name](tmp_path_factory.mktemp(name)))
            return running[name]

        yield cloud


@pytest.fixture
def moto(clouds: Callable[[str], Cloud]) -> Cloud:
    return clouds("moto")


@pytest.fixture(params=REAL)
def cloud(request: pytest.FixtureRequest, clouds: Callable[[str], Cloud]) -> Cloud:
    """Return each server that has DynamoDB."""
    return clouds(request.param)


@pytest.fixture(params=["virtual", "sqlite", "tables", MINISTACK])
def store(request: pytest.FixtureRequest, clouds: Callable[[str], Cloud], tmp_path: Path) -> Iterator[Store]:
    """Yield each store, empty: SQLite in memory and in a file, DynamoDB in memory, and on a server."""
    if request.param == "tables":
        yield in_tables()
    elif request.param in ("virtual", "sqlite"):
        with sqlite(":memory:" if request.param == "virtual" else tmp_path / "timeouts.sqlite") as made:
            yield made
    else:
        yield clouds(request.param).store()


@pytest.fixture
def local_store() -> Iterator[Store]:
    """Yield a store in memory, for tests that do not depend on the store."""
    with sqlite() as made:
        yield made
