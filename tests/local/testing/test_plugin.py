"""Check that pytest gets the fixture from the plugin."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from deadlines import DEADLINE

PLUGIN = "recoverable_local.testing.plugin"

TEST = """
def test_it(sqs_world, caplog):
    sqs_world.serve("orders", lambda event, context: 1 / 0)
    sqs_world.send("orders", "x")
    sqs_world.run(for_=1)
    assert "ZeroDivisionError" in caplog.text
"""


def pytest_with_the_plugin(folder: Path, *options: str) -> str:
    (folder / "test_it.py").write_text(TEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    is_installed = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
    plugin = [] if is_installed else ["-p", PLUGIN]  # twice under two names is an error
    command = [sys.executable, "-m", "pytest", *plugin, *options]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=DEADLINE)
    return run.stdout


def test_the_plugin_gives_each_test_a_world(tmp_path: Path) -> None:
    assert "1 passed" in pytest_with_the_plugin(tmp_path, "-q")


def test_the_plugin_tells_what_its_fixture_is(tmp_path: Path) -> None:
    assert "SQS and Lambda in virtual time" in pytest_with_the_plugin(tmp_path, "--fixtures")
