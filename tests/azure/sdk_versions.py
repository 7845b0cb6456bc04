"""The versions of azure-servicebus that the tests run on, and what they do differently."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

OLDEST = "7.14.3"
OLDEST_FOLDER = Path(sys.prefix) / "azure-servicebus-oldest"
"""Where `make test` puts the oldest version beside the newest."""

RUNNING = tuple(map(int, version("azure-servicebus").split(".")[:2]))

settlements_are_answered = pytest.mark.skipif(
    RUNNING < (7, 15), reason="before 7.15 azure-servicebus does not wait for the broker's answer to a settlement"
)
