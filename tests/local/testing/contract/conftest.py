"""Give each test of the contract each server, and expect the known deviations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from local.testing.contract import servers
from local.testing.contract.deviations import DEVIATIONS, behaviour_of

REAL = [
    pytest.param(name, marks=[pytest.mark.slow, pytest.mark.xdist_group(f"contract-{name}")])
    for name in servers.SERVERS
    if name != "given" or servers.GIVEN in os.environ
]


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, servers.Server]]:
    """Return the running servers, and a function that starts another; each starts once, when first requested."""
    with ExitStack() as stack:

        class Started(dict[str, servers.Server]):
            def __missing__(self, name: str) -> servers.Server:
                start = servers.SERVERS[name]
                self[name] = stack.enter_context(start(tmp_path_factory.mktemp(name)))
                return self[name]

        yield Started()


@pytest.fixture(params=["SqsWorld", *REAL])
def server(request: pytest.FixtureRequest, started: dict[str, servers.Server]) -> Iterator[servers.Server]:
    """Return one server after the other."""
    name: str = request.param
    known = DEVIATIONS.get((behaviour_of(request.node.name), name))
    if known is not None:
        request.node.add_marker(pytest.mark.xfail(reason=known, strict=True))
    if name == "SqsWorld":
        yield from servers.world()
    else:
        yield started[name]
        started[name].clean()
