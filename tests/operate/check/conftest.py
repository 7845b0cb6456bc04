"""The command `recoverable check` as a fixture."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from operate.conftest import Ran
from recoverable._cli import main

Check = Callable[..., Ran]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    """Return a function that runs `recoverable check` with these words."""

    def run(*words: str) -> Ran:
        capsys.readouterr()
        status = main(["check", *words])
        return Ran(status, *capsys.readouterr())

    return run
