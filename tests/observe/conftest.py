"""Fixtures for what is told of an invocation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from observe.telemetry import Telemetry, telemetry


@pytest.fixture(name="telemetry")
def _telemetry() -> Iterator[Telemetry]:
    """OpenTelemetry, set up by the application, with nothing told yet."""
    made = telemetry()
    made.forget()
    yield made
    made.forget()
