"""The ladder that a function's environment variables say, as `recoverable check` reads them."""

from __future__ import annotations

import re

import pytest

from recoverable import Delayed, Immediate
from recoverable_operate.rules import Unknown
from recoverable_operate.rules._ladder import DEFAULT, NAMES, OTHERS, PREFIX, Ladder, ladder_of, mistakes, strangers
from sources import PACKAGE, operate, runtime

UNREADABLE = "the environment variable RECOVERABLE_IMMEDIATE_RETRIES is 'six'; write a whole number from 0 to 994"
NOT_KNOWN = Unknown("only the cloud knows")

LADDERS: dict[str, tuple[dict[str, str | Unknown], Ladder | Unknown]] = {
    "nothing is said": ({"OTHER": "1"}, DEFAULT),
    "both numbers": (
        {"RECOVERABLE_IMMEDIATE_RETRIES": "2", "RECOVERABLE_DELAYED_RETRIES": "1"},
        Ladder(Immediate(2), Delayed(1), said=True),
    ),
    "one of them": ({"RECOVERABLE_DELAYED_RETRIES": "0"}, Ladder(Immediate(5), Delayed(0), said=True)),
    "a blank one": ({"RECOVERABLE_DELAYED_RETRIES": " "}, DEFAULT),
    "switched off": ({"RECOVERABLE_ENABLED": "off"}, Ladder(Immediate(0), Delayed(0), said=True)),
    "no number": ({"RECOVERABLE_IMMEDIATE_RETRIES": "six"}, Unknown(UNREADABLE)),
    "a number that is not known": ({"RECOVERABLE_IMMEDIATE_RETRIES": NOT_KNOWN}, NOT_KNOWN),
    "another setting that is not known": ({"RECOVERABLE_ERROR_QUEUE": NOT_KNOWN}, DEFAULT),
}


@pytest.mark.parametrize("said", LADDERS)
def test_the_ladder_is_what_the_endpoint_would_read(said: str) -> None:
    variables, ladder = LADDERS[said]

    assert ladder_of(variables) == ladder


def test_each_variable_that_cannot_be_read_is_said() -> None:
    variables = {
        "RECOVERABLE_IMMEDIATE_RETRIES": "six",
        "RECOVERABLE_ENABLED": "perhaps",
        "RECOVERABLE_DELAYED_RETRIES": "3",
    }

    assert list(mistakes(variables)) == [
        UNREADABLE,
        "the environment variable RECOVERABLE_ENABLED is 'perhaps'; write true or false",
    ]


def test_a_delay_that_is_too_long_together_with_the_number_of_retries_is_said() -> None:
    variables = {"RECOVERABLE_DELAYED_RETRIES": "1000", "RECOVERABLE_TIME_INCREASE": "1d"}

    assert [each.partition(";")[0] for each in mistakes(variables)] == [
        "the environment variable RECOVERABLE_TIME_INCREASE is '1d'"
    ]


def test_a_name_that_is_none_of_ours_is_a_stranger() -> None:
    variables = {"RECOVERABLE_DELAY_RETRIES": "3", "RECOVERABLE_ERROR_QUEUE": "x", "OTHER": "1"}

    assert list(strangers(variables)) == ["RECOVERABLE_DELAY_RETRIES"]


def test_the_names_are_those_that_the_runtime_reads() -> None:
    settings = (PACKAGE / "_variables.py").read_text(encoding="utf-8")
    literal = "".join(path.read_text(encoding="utf-8") for path in (*runtime(), *operate()))

    assert set(re.findall(r'variables\.\w+\("([A-Z_]+)"', settings)) == set(NAMES)
    assert set(re.findall(r'"RECOVERABLE_([A-Z_]+)"', literal)) <= {*NAMES, *OTHERS}
    assert PREFIX == "RECOVERABLE_"
