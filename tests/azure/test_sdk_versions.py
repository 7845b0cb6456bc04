"""Check the ladder, and what the world and the emulator take, on the oldest azure-servicebus that is allowed; all other tests run on the newest."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from azure.sdk_versions import OLDEST, OLDEST_FOLDER

ROOT = Path(__file__).parents[2]
SUITES = (
    "tests/azure/test_actions.py",
    "tests/azure/test_bad_input.py",
    "tests/azure/test_namespace.py",
    "tests/local/testing/azure/contract",
)

installed = pytest.mark.skipif(not OLDEST_FOLDER.is_dir(), reason=f"no {OLDEST_FOLDER}; `make clean test` installs it")


def on_the_oldest(*words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the oldest SDK in front of the newest."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(OLDEST_FOLDER)
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("path", ["pyproject.toml", "infra/local/pyproject.toml"])
def test_the_oldest_version_that_is_tried_is_the_oldest_that_is_allowed(path: str) -> None:
    extras = tomllib.loads((ROOT / path).read_text())["project"]["optional-dependencies"]

    assert f"azure-servicebus>={OLDEST.rpartition('.')[0]}" in extras["azure"]


def test_make_installs_the_oldest_version() -> None:
    assert f"azure-servicebus=={OLDEST}\n" in (ROOT / "Makefile").read_text()


@installed
@pytest.mark.slow
def test_the_suites_pass_on_the_oldest_version() -> None:
    running = on_the_oldest("-c", "from importlib.metadata import version; print(version('azure-servicebus'))")
    done = on_the_oldest("-m", "pytest", "-q", "-p", "no:cacheprovider", *SUITES)

    assert (running.stdout, done.returncode) == (f"{OLDEST}\n", 0), done.stdout[-10_000:]
