"""The `Events` of type Schedule of a function in a template → frozen schedules."""

from __future__ import annotations

import json
import re
from datetime import timedelta

from recoverable_local.lambda_host.sam.document import TemplateError
from recoverable_local.lambda_host.sam.properties import Properties
from recoverable_local.lambda_host.sam.stack import Function, Schedule

# Five digits: a thread can wait for so many days, and not for many more.
_RATE = re.compile(r"rate\(\s*([1-9][0-9]{0,4})\s+(minute|hour|day)(s?)\s*\)", re.ASCII)
_RETRIES = 2  # Lambda, "Configuring error handling settings for asynchronous invocation"


def is_rate(properties: Properties) -> bool:
    """Whether it is a schedule that the local host follows; those of `cron` it does not."""
    return not properties.text("Schedule", "").startswith("cron(")


def is_on(properties: Properties) -> bool:
    """Whether it is switched on, by its one property for that or its other."""
    return properties.flag("Enabled", default=properties.text("State", "ENABLED") != "DISABLED")


def read_schedule(properties: Properties, *, function: Function) -> Schedule:
    """Read one schedule.

    Args:
        properties: What stands below the event's `Properties`.
        function: The function that it invokes.

    Raises:
        TemplateError: AWS would refuse it.
    """
    return Schedule(properties.where, function.logical_id, _rate(properties), _input(properties))


def retries(function: Properties) -> int:
    """How often Lambda would run the function again when it fails on a schedule's event."""
    return function.part("EventInvokeConfig").number("MaximumRetryAttempts", _RETRIES, most=_RETRIES)


def _rate(properties: Properties) -> timedelta:
    text = properties.required("Schedule", "rate(1 minute)")
    match = _RATE.fullmatch(text)
    if match is None or (match[1] == "1") == bool(match[3]):
        raise TemplateError(
            f"{properties.where}.Schedule is {text!r}; AWS takes rate(1 minute), rate(5 minutes), and so with hours and days."
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
