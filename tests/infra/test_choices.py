"""What template.yaml lets its user choose, held against what the package takes: ladders and Pythons."""

from __future__ import annotations

import tomllib
from datetime import timedelta
from runpy import run_path

import botocore.session
import pytest

from infra.sam_template import ROOT, Parameters, corners, template, value
from recoverable import Delayed, Immediate

SAM = template()
LADDER = ("ImmediateRetries", "DelayedRetries", "TimeIncreaseSeconds")


def environment(parameters: Parameters) -> dict[str, str]:
    """Return the function's variables that carry the ladder."""
    variables = {"RECOVERABLE_IMMEDIATE_RETRIES", "RECOVERABLE_DELAYED_RETRIES", "RECOVERABLE_TIME_INCREASE"}
    path = ("Environment", "Variables")
    return {name: str(value(SAM, parameters, "OrdersFunction", *path, name)) for name in variables}


@pytest.mark.parametrize("parameters", corners(SAM, *LADDER), ids=str)
def test_the_function_starts_with_every_ladder_the_parameters_allow(
    parameters: Parameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, setting in environment(parameters).items():
        monkeypatch.setenv(name, setting)

    started = run_path(str(ROOT / "functions" / "aws" / "orders.py"))

    assert callable(started["handler"])


def test_the_parameters_default_to_what_the_package_does() -> None:
    default = {name: SAM["Parameters"][name]["Default"] for name in LADDER}

    immediate = Immediate(max_retries=default["ImmediateRetries"])
    delayed = Delayed(default["DelayedRetries"], timedelta(seconds=default["TimeIncreaseSeconds"]))

    assert (immediate, delayed) == (Immediate(), Delayed())


NOT_YET = ["python3.15"]
"""Runtimes that Lambda lists, for which the package does not say yet that it supports them."""


def test_the_runtimes_on_offer_are_the_pythons_that_the_package_supports_and_those_that_lambda_lists_already() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = "Programming Language :: Python :: 3."

    supported = [f"python3.{name.removeprefix(python)}" for name in project["classifiers"] if name.startswith(python)]

    assert SAM["Parameters"]["PythonRuntime"]["AllowedValues"] == supported + NOT_YET
    known = botocore.session.get_session().get_service_model("lambda").shape_for("Runtime").enum  # type: ignore[attr-defined]
    assert set(supported + NOT_YET) <= set(known)
