"""The worlds that outages are tested in."""

from __future__ import annotations

import pytest

from rate_limit.outage import CLOUDS, World


@pytest.fixture(params=CLOUDS)
def world(request: pytest.FixtureRequest) -> World:
    """Return a world of each cloud."""
    return CLOUDS[request.param]()
