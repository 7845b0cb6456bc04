"""Settings from environment variables: the code wins over them, they win over the defaults, and what cannot be read names its variable."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from builders import Boom, seconds
from recoverable import Delayed, Failed, Immediate, RateLimit, Recoverability

HOW_LONG = "write a duration such as 10s, 5m, 1h or 00:00:10, up to"
DEFAULT_LONGEST = "121 days, 16:00:00"

Set = Callable[..., None]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Set:
    """Return what sets variables; before, none of the package's is set."""
    names = ("IMMEDIATE_RETRIES", "DELAYED_RETRIES", "TIME_INCREASE", "ENABLED", "ERROR_QUEUE", "RATE_LIMIT_AFTER")
    for name in names:
        monkeypatch.delenv(f"RECOVERABLE_{name}", raising=False)

    def set_variables(prefix: str = "RECOVERABLE_", **variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(prefix + name, value)

    return set_variables


@pytest.mark.usefixtures("environment")
def test_without_variables_all_is_as_by_default() -> None:
    assert Recoverability.from_environment() == Recoverability()


def test_a_blank_variable_counts_as_not_set(environment: Set) -> None:
    environment(IMMEDIATE_RETRIES="", TIME_INCREASE=" ", ENABLED="", ERROR_QUEUE="", RATE_LIMIT_AFTER="")

    assert Recoverability.from_environment() == Recoverability()


def test_each_variable_has_its_setting(environment: Set) -> None:
    environment(
        IMMEDIATE_RETRIES="2", DELAYED_RETRIES="4", TIME_INCREASE="1m", ERROR_QUEUE="aside", RATE_LIMIT_AFTER="50"
    )

    assert Recoverability.from_environment() == Recoverability(
        Immediate(2), Delayed(4, timedelta(minutes=1)), Failed("aside"), rate_limit=RateLimit(50)
    )


def test_another_prefix_reads_other_variables(environment: Set) -> None:
    environment(IMMEDIATE_RETRIES="2")
    environment("ORDERS_", IMMEDIATE_RETRIES="1")

    assert Recoverability.from_environment("ORDERS_") == Recoverability(Immediate(1))


def test_a_rate_limit_after_0_failures_is_none(environment: Set) -> None:
    environment(RATE_LIMIT_AFTER="0")

    assert Recoverability.from_environment().rate_limit is None


@pytest.mark.parametrize("off", ["false", "False", "off", "no", "0"])
def test_what_is_not_enabled_retries_nothing(environment: Set, off: str) -> None:
    environment(ENABLED=off, IMMEDIATE_RETRIES="2", DELAYED_RETRIES="4")

    assert Recoverability.from_environment() == Recoverability(Immediate(0), Delayed(0))


@pytest.mark.parametrize("on", ["true", "True", "on", "yes", "1"])
def test_what_is_enabled_retries_as_it_says(environment: Set, on: str) -> None:
    environment(ENABLED=on, IMMEDIATE_RETRIES="2")

    assert Recoverability.from_environment() == Recoverability(Immediate(2))


DURATIONS = {
    "10s": seconds(10),
    "0s": seconds(0),
    "2.5s": seconds(2.5),
    "5m": timedelta(minutes=5),
    "1h": timedelta(hours=1),
    "1d": timedelta(days=1),
    "00:00:10": seconds(10),
    "01:30:00": timedelta(minutes=90),
    "1.02:00:00": timedelta(days=1, hours=2),
}


@pytest.mark.parametrize("text", DURATIONS)
def test_a_duration_has_a_unit_or_is_hours_minutes_and_seconds(environment: Set, text: str) -> None:
    environment(TIME_INCREASE=text)

    assert Recoverability.from_environment().delayed.time_increase == DURATIONS[text]


UNREADABLE = [
    ("IMMEDIATE_RETRIES", "five", "write a whole number from 0 to 994"),
    ("IMMEDIATE_RETRIES", "995", "write a whole number from 0 to 994"),
    ("IMMEDIATE_RETRIES", "-1", "write a whole number from 0 to 994"),
    ("IMMEDIATE_RETRIES", "5.0", "write a whole number from 0 to 994"),
    ("IMMEDIATE_RETRIES", "٥", "write a whole number from 0 to 994"),
    ("DELAYED_RETRIES", "1001", "write a whole number from 0 to 1,000"),
    ("DELAYED_RETRIES", "9" * 5_000, "write a whole number from 0 to 1,000"),
    ("TIME_INCREASE", "10", f"{HOW_LONG} {DEFAULT_LONGEST}"),
    ("TIME_INCREASE", "-10s", f"{HOW_LONG} {DEFAULT_LONGEST}"),
    ("TIME_INCREASE", "10 seconds", f"{HOW_LONG} {DEFAULT_LONGEST}"),
    ("TIME_INCREASE", "24:00:00", f"{HOW_LONG} {DEFAULT_LONGEST}"),
    ("TIME_INCREASE", "999999999d", f"{HOW_LONG} {DEFAULT_LONGEST}"),
    ("TIME_INCREASE", "999999999.23:59:59", f"{HOW_LONG} {DEFAULT_LONGEST}"),
    ("ENABLED", "maybe", "write true or false"),
    ("RATE_LIMIT_AFTER", "10001", "write a whole number from 0 to 10,000"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), UNREADABLE)
def test_what_cannot_be_read_names_its_variable(environment: Set, name: str, value: str, wanted: str) -> None:
    environment(**{name: value})

    with pytest.raises(ValueError, match=name) as refused:
        Recoverability.from_environment()
    assert str(refused.value) == f"the environment variable RECOVERABLE_{name} is {value!r}; {wanted}"


def test_a_duration_is_bounded_by_the_retries_that_multiply_it(environment: Set) -> None:
    environment(DELAYED_RETRIES="365", TIME_INCREASE="25h")

    with pytest.raises(ValueError, match=r"up to 1 day, 0:00:00$"):
        Recoverability.from_environment()


CODE: list[dict[str, Any]] = [
    {"immediate": Immediate(1)},
    {"delayed": Delayed(1, jitter=1.0)},
    {"failed": Failed("mine", unrecoverable=(Boom,))},
    {"rate_limit": RateLimit(7)},
    {"rate_limit": None},
    {"policy": lambda _settings, _context: None},
]


@pytest.mark.parametrize("code", CODE, ids=lambda code: next(iter(code)))
def test_a_part_of_the_code_wins(environment: Set, code: dict[str, Any]) -> None:
    environment(
        IMMEDIATE_RETRIES="2", DELAYED_RETRIES="4", TIME_INCREASE="1m", ERROR_QUEUE="aside", RATE_LIMIT_AFTER="50"
    )

    assert Recoverability.from_environment(**code) == Recoverability.from_environment().replace(**code)


def test_rules_of_the_code_go_with_the_error_queue_of_the_environment(environment: Set) -> None:
    environment(ERROR_QUEUE="aside")

    settings = Recoverability.from_environment(failed=Failed(unrecoverable=(Boom,)))

    assert settings.failed == Failed("aside", unrecoverable=(Boom,))


def test_a_function_of_the_code_completes_what_the_environment_says(environment: Set) -> None:
    environment(DELAYED_RETRIES="4", TIME_INCREASE="1m")

    settings = Recoverability.from_environment(
        delayed=lambda read: Delayed(read.max_retries, read.time_increase, jitter=0.5)
    )

    assert settings.delayed == Delayed(4, timedelta(minutes=1), jitter=0.5)


@pytest.mark.usefixtures("environment")
def test_a_rate_limit_that_the_environment_does_not_ask_for_is_not_completed() -> None:
    def completed(_limit: RateLimit) -> RateLimit:
        raise AssertionError

    assert Recoverability.from_environment(rate_limit=completed).rate_limit is None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"retries": 3}, "write Recoverability(immediate, delayed, failed, rate_limit=..., policy=..., redact=...)"),
    ({"immediate": 3}, "Recoverability(immediate) is 3; write immediate=Immediate(...)"),
    ({"delayed": lambda _read: None}, "Recoverability(delayed) is None; write delayed=Delayed(...)"),
    ({"failed": "aside"}, "Recoverability(failed) is 'aside'; write failed=Failed(...)"),
    ({"prefix": None}, "from_environment(prefix) is None; write how the names begin, such as 'RECOVERABLE_'"),
]


@pytest.mark.parametrize(("code", "wanted"), WRONG)
@pytest.mark.usefixtures("environment")
def test_a_part_of_another_kind_is_refused(code: dict[str, Any], wanted: str) -> None:
    with pytest.raises(TypeError) as refused:
        Recoverability.from_environment(**code)
    assert str(refused.value).endswith(wanted)


PROGRAM = """
import json, sys
import recoverable
recoverable.Recoverability()
before = "recoverable._variables" in sys.modules
recoverable.Recoverability.from_environment()
print(json.dumps([before, sorted(name for name in sys.modules if name.startswith("recoverable.rate_limit"))]))
"""


def test_no_rate_limit_is_imported_without_one() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)

    assert json.loads(ended.stdout)[1] == []
