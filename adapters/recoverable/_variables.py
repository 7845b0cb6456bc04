"""Read settings from environment variables, for `Recoverability.from_environment`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import timedelta

import recoverable
from recoverable._frozen import Frozen
from recoverable._limits import MAX_COUNT, MAX_DELAY, MAX_DELAYED, MAX_IMMEDIATE, NO_DELAY, number_up_to

FACTS_FILE = "RECOVERABLE_FACTS_FILE"
"""The environment variable by which a host of another process names a file: endpoints append the facts of each decision and success to it, a
line of JSON each."""

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Any, TypeVar

    R = TypeVar("R", bound=Frozen)

SWITCH = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}

AMOUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([smhd])")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

TIME_SPAN = re.compile(r"(?:([0-9]{1,9})\.)?([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])")
"""The form of .NET's TimeSpan, "c" of "Standard TimeSpan format strings", to the second. 24 hours are 1.00:00:00
there."""


class Variables:
    """The environment variables of one prefix. A blank one counts as not set, for templates cannot leave one out.

    Args:
        prefix: how their names begin.
        environment: all variables.
    """

    def __init__(self, prefix: str, environment: Mapping[str, str]) -> None:
        self._prefix, self._environment = prefix, environment

    def text(self, name: str) -> str | None:
        """Return the value of a variable; None when it is not set."""
        return self._environment.get(self._prefix + name, "").strip() or None

    def switch(self, name: str) -> bool:
        """Return True if a variable says so or is not set."""
        text = self.text(name) or "true"
        if (value := SWITCH.get(text.lower())) is None:
            raise self._unreadable(name, text, "true or false")
        return value

    def count(self, name: str, most: int, default: int) -> int:
        """Return a whole number from 0 to `most`; the default when the variable is not set."""
        if (text := self.text(name)) is None:
            return default
        if not re.fullmatch("[0-9]{1,9}", text) or int(text) > most:
            raise self._unreadable(name, text, number_up_to(most))
        return int(text)

    def delay(self, name: str, most: timedelta, default: timedelta) -> timedelta:
        """Return a duration from 0 to `most`; the default when the variable is not set."""
        if (text := self.text(name)) is None:
            return default
        if (delay := read_duration(text)) is None or not NO_DELAY <= delay <= most:
            raise self._unreadable(name, text, f"a duration such as 10s, 5m, 1h or 00:00:10, up to {most}")
        return delay

    def _unreadable(self, name: str, text: str, wanted: str) -> ValueError:
        return ValueError(f"the environment variable {self._prefix}{name} is {text!r}; write {wanted}")


def read_duration(text: str) -> timedelta | None:
    """Return the duration that a text says: a number with its unit, or hours, minutes and seconds; None for any other text."""
    if found := AMOUNT.fullmatch(text):
        return timedelta(**{UNITS[found[2]]: float(found[1])})
    if found := TIME_SPAN.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return None


def from_variables(defaults: R, prefix: str, code: Mapping[str, Any]) -> R:
    """Return the settings: the code's, else the environment's, else the defaults.

    Args:
        defaults: a `Recoverability`.
        prefix: how the names of the variables begin.
        code: parts of it that the code gives, or functions that make them of what the environment says.

    Raises:
        TypeError: an unknown keyword, or a part of the wrong class.
        ValueError: a variable that cannot be read; the text names it and says what to write.
    """
    if not isinstance(prefix, str):
        raise TypeError(f"from_environment(prefix) is {prefix!r}; write how the names begin, such as 'RECOVERABLE_'")
    read = read_parts(defaults, Variables(prefix, os.environ))
    return defaults.replace(**{**read, **chosen(read, code)})


def read_parts(defaults: Any, variables: Variables) -> dict[str, Any]:
    """Return the parts that variables can set, as the environment says or by default."""
    enabled = variables.switch("ENABLED")
    immediate = variables.count("IMMEDIATE_RETRIES", MAX_IMMEDIATE, defaults.immediate.max_retries)
    delayed = variables.count("DELAYED_RETRIES", MAX_DELAYED, defaults.delayed.max_retries)
    longest = MAX_DELAY / max(delayed, 1)
    increase = variables.delay("TIME_INCREASE", longest, defaults.delayed.time_increase)
    return {
        "immediate": defaults.immediate.replace(max_retries=immediate if enabled else 0),
        "delayed": defaults.delayed.replace(max_retries=delayed if enabled else 0, time_increase=increase),
        "failed": defaults.failed.replace(error_queue=variables.text("ERROR_QUEUE")),
        "rate_limit": rate_limit_after(variables.count("RATE_LIMIT_AFTER", MAX_COUNT, 0)),
    }


def rate_limit_after(failures: int) -> Frozen | None:
    """Return the rate limit after so many failures in a row; None for 0."""
    return recoverable.RateLimit(failures) if failures else None


def chosen(read: Mapping[str, Any], code: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that the code gives; a function makes one of what was read, if anything was."""
    made = dict(code)
    for name, part in read.items():
        if callable(given := code.get(name)):
            made[name] = None if part is None else given(part)
    given = code.get("failed")
    if isinstance(given, type(read["failed"])) and given.error_queue is None:
        made["failed"] = given.replace(error_queue=read["failed"].error_queue)
    return made
