"""The command `recoverable check` as a fixture."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from operate.conftest import Ran
from recoverable_operate._cli import main

Check = Callable[..., Ran]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    """Return a function that runs `recoverable check` with these words."""

    def run(*words: str) -> Ran:
        capsys.readouterr()
        status = main(["check", *words])
        return Ran(status, *capsys.readouterr())

    return run


def reported(ran: Ran) -> list[dict[str, Any]]:
    """Return the lines of JSON that a check printed, but for the last one, which counts."""
    return [json.loads(line) for line in ran.out.splitlines()[:-1]]


def found(ran: Ran) -> list[tuple[str, str]]:
    """Return the rule of each finding, and the finding in one sentence."""
    return [
        (each["rule"], f"{each['wrong']}, so {each['causes']}; {each['write']}")
        for each in reported(ran)
        if "wrong" in each
    ]


def rules_found(ran: Ran) -> list[str]:
    """Return the rule of each finding."""
    return [rule for rule, _ in found(ran)]


def not_checked(ran: Ran) -> dict[str, str]:
    """Return the rules that were not checked, and why."""
    return {each["rule"]: each["notChecked"] for each in reported(ran) if "notChecked" in each}
