"""The circuit that an instance keeps for itself, held to the contract of all stores."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from rate_limit.circuit_contract import CircuitContract, NewStore
from recoverable._rate_limit.store import MemoryCircuit


class TestMemoryCircuit(CircuitContract):
    """Its threads share one object."""

    ROUNDS = 1_000

    @pytest.fixture
    def new_store(self) -> Iterator[NewStore]:
        """Yield the one store, and let threads switch as often as possible."""
        store, interval = MemoryCircuit(), sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        yield lambda: store
        sys.setswitchinterval(interval)
