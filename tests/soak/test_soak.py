"""A quick soak on each cloud: whatever goes wrong, each message is processed, or it is in the error queue."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deadlines import LONGEST_TEST

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("soak")]

SEED = os.environ.get("SOAK_SEED", "7")
"""Draws the same mishaps each time, at the machine's own moments; `make soak` draws others."""


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_no_message_is_lost(cloud: str) -> None:
    """In a process of its own, for the SDKs leave open what a dropped connection has interrupted."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])

    soaked = subprocess.run(
        [sys.executable, "-m", "soak", "--quick", "--cloud", cloud, "--seed", SEED],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=LONGEST_TEST,
        check=False,
    )

    assert soaked.returncode == 0, soaked.stdout + soaked.stderr
