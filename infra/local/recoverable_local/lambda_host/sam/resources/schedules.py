"""Parse the `Events` of type Schedule of a function into schedules."""

from __future__ import annotations

import json
import re
from datetime import timedelta

from recoverable_local.lambda_host.sam.stack import Function, Schedule
from recoverable_operate.templates import Properties, TemplateError

# At most five digits: a thread can wait that many days, but not many more.
_RATE = re.compile(r"rate\(\s*([1-9][0-9]{0,4})\s+(minute|hour|day)(s?)\s*\)", re.ASCII)
_EXPRESSION = "ScheduleExpression"
_RETRIES = 2  # Lambda, "Configuring error handling settings for asynchronous invocation"


def is_rate(properties: Properties) -> bool:
    """True if it is a rate, which the local host runs; False if it is `cron` or `at`, which it does not."""
    return not properties.text(_name(properties), "").startswith(("cron(", "at("))


def _name(properties: Properties) -> str:
    """Return the name of the property that says when: a `ScheduleV2` has another one than a `Schedule`."""
    return _EXPRESSION if _EXPRESSION in properties.values else "Schedule"


def is_enabled(properties: Properties) -> bool:
    """True if it is enabled, by its property `Enabled` or, if that is missing, `State`."""
    return properties.flag("Enabled", default=properties.text("State", "ENABLED") != "DISABLED")


def parse_schedule(properties: Properties, *, function: Function) -> Schedule:
    """Parse one schedule.

    Args:
        properties: The event's `Properties`.
        function: The function that it invokes.

    Raises:
        TemplateError: AWS would refuse it.
    """
    by_scheduler = _name(properties) == _EXPRESSION
    return Schedule(properties.where, function.logical_id, _rate(properties), _input(properties), by_scheduler)


def async_retries(function: Properties) -> int:
    """Return how often Lambda would run the function again after it failed on a schedule's event."""
    return function.part("EventInvokeConfig").number("MaximumRetryAttempts", _RETRIES, maximum=_RETRIES)


def _rate(properties: Properties) -> timedelta:
    name = _name(properties)
    text = properties.required(name, "rate(1 minute)")
    match = _RATE.fullmatch(text)
    if match is None or (match[1] == "1") == bool(match[3]):
        raise TemplateError(
            f"{properties.where}.{name} is {text!r}; AWS takes rate(1 minute), rate(5 minutes), and so with hours and days."
        )
    return timedelta(**{f"{match[2]}s": int(match[1])})


def _input(properties: Properties) -> str | None:
    text = properties.get("Input")
    if text is None:
        return None
    try:
        json.loads(str(text))
    except ValueError as error:
        raise TemplateError(
            f"{properties.where}.Input is no JSON ({error}); it is the event that the function gets."
        ) from error
    return str(text)
