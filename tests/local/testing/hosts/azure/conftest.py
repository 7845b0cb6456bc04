"""Give each test of the contract the world's Functions host and the local one, and expect the known deviations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from local.testing.hosts import script
from local.testing.hosts.azure.hosts import Serve, in_world
from local.testing.hosts.azure.local_hosts import RealHosts
from local.testing.hosts.contract import AZURE, expected
from local.testing.hosts.notes import Notes

REAL = pytest.param("LocalFunctions", marks=[pytest.mark.slow, pytest.mark.xdist_group("contract-functions")])


@pytest.fixture(scope="package")
def real_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], RealHosts]]:
    """Keep the local hosts from the first that is requested."""
    made: list[RealHosts] = []
    with ExitStack() as stack:

        def hosts() -> RealHosts:
            if not made:
                made.append(RealHosts(tmp_path_factory.mktemp("hosts"), stack))
            return made[0]

        yield hosts


@pytest.fixture(params=["ServiceBusWorld", REAL])
def serve(
    request: pytest.FixtureRequest, real_hosts: Callable[[], RealHosts], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Serve:
    """Serve a queue with the scripted app, on one host after the other."""
    expected(request, AZURE)
    if request.param == "LocalFunctions":
        return lambda queue, **settings: real_hosts().serve(queue, **settings)
    monkeypatch.setattr(script, "HERE", script.HERE)  # put back in the end
    return lambda queue, **settings: in_world(queue, Notes(tmp_path / "notes"), **settings)
