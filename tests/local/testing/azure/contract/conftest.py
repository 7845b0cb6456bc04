"""Give each test of the contract the world and the emulator, and expect the known deviations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from local.testing.azure.contract import servers
from local.testing.azure.contract.deviations import DEVIATIONS
from local.testing.contract.deviations import behaviour_of

REAL = pytest.param("emulator", marks=[pytest.mark.slow, pytest.mark.xdist_group("contract-emulator")])


@pytest.fixture(scope="session")
def emulator() -> Iterator[list[servers.Server]]:
    """Start the emulator when it is first requested."""
    with ExitStack() as stack:

        class Started(list[servers.Server]):
            def __iter__(self) -> Iterator[servers.Server]:
                if not len(self):
                    self.append(stack.enter_context(servers.emulator()))
                return super().__iter__()

        yield Started()


@pytest.fixture(params=["ServiceBusWorld", REAL])
def server(request: pytest.FixtureRequest, emulator: list[servers.Server]) -> Iterator[servers.Server]:
    """Return one server after the other."""
    name: str = request.param
    known = DEVIATIONS.get((behaviour_of(request.node.name), name))
    if known is not None:
        request.node.add_marker(pytest.mark.xfail(reason=known, strict=True))
    if name == "ServiceBusWorld":
        yield from servers.world()
    else:
        yield from emulator
