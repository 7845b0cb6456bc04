"""A Service Bus namespace on loopback, as the app settings have it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from azure.namespace import SETTING, Bus, emulated
from circuits.azure.azurite import azurite

__all__ = ["azurite", "bus"]


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bus]:
    """Yield a namespace of its own for each test, which endpoints find by an app setting."""
    with emulated() as bus:
        monkeypatch.setenv(SETTING, bus.namespace.connection_string)
        yield bus
