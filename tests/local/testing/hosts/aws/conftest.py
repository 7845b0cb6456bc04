"""Give each test of the contract the world's Lambda and the local host, and expect the known deviations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from local.testing.hosts import script
from local.testing.hosts.aws.hosts import Serve, Settings, in_world
from local.testing.hosts.aws.local_hosts import RealHosts
from local.testing.hosts.contract import AWS, expected
from local.testing.hosts.notes import Notes
from recoverable_local.lambda_host.services.broker import embedded_broker
from recoverable_local.testing import SqsWorld

REAL = pytest.param("LocalAws", marks=[pytest.mark.slow, pytest.mark.xdist_group("contract-lambda")])


@pytest.fixture(scope="package")
def real_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], RealHosts]]:
    """Keep the local hosts from the first that is requested; each is closed beside the next tests, because it waits for its long poll."""
    made: list[RealHosts] = []
    with ExitStack() as stack:
        closing = stack.enter_context(ThreadPoolExecutor())
        closed: list[Future[None]] = []

        def hosts() -> RealHosts:
            if not made:
                broker = stack.enter_context(embedded_broker())
                folder = tmp_path_factory.mktemp("hosts")
                made.append(RealHosts(broker, folder, lambda one: closed.append(closing.submit(one.close))))
            return made[0]

        yield hosts
        for each in made:
            each.stop()
        for future in closed:
            future.result()


@pytest.fixture(params=["SqsWorld", REAL])
def serve(
    request: pytest.FixtureRequest, real_hosts: Callable[[], RealHosts], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Serve:
    """Serve a queue with the scripted function, on one host after the other."""
    expected(request, AWS)
    if request.param == "LocalAws":
        return lambda **settings: real_hosts().serve(Settings(**settings))
    monkeypatch.setattr(script, "HERE", script.HERE)  # put back in the end
    return lambda **settings: in_world(Settings(**settings), SqsWorld(), Notes(tmp_path / "notes"))
