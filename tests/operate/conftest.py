"""The command `recoverable errors` as a fixture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from recoverable_operate._cli import main


class Ran(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


Errors = Callable[..., Ran]


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the file of the journal when the command names none."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return str(tmp_path / "state" / "recoverable" / "errors.sqlite")


@pytest.fixture
def errors(journal: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Errors:
    """Return a function that runs `recoverable errors` with these words, without waiting for the local server's polls."""

    def run(*words: str) -> Ran:
        monkeypatch.setattr("sys.argv", ["recoverable", "errors", *words])
        monkeypatch.setattr("recoverable_operate.errors._aws.client.COUNTS_SETTLE", 0)  # moto counts at once
        capsys.readouterr()
        status = main(["errors", *words, *(["--poll", "0"] if "--queue" in words else [])])
        return Ran(status, *capsys.readouterr())

    return run
