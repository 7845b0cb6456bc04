"""Test the notes on an app that Azure accepts but that would repeat or miscount messages there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recoverable_local.functions_host.app.advice import advice
from recoverable_local.functions_host.app.host_json import HostOptions, host_options
from recoverable_local.functions_host.app.triggers import Trigger

MINUTE = timedelta(minutes=1)
GOOD = Trigger("orders", "orders", binary=True)
NOTES: dict[str, tuple[dict[str, Any], Trigger, str]] = {
    "a lock that ends before the function does": (
        {"function_timeout": 6 * MINUTE, "max_auto_lock_renewal_duration": 5 * MINUTE},
        GOOD,
        "host.json lets a function run for 0:06:00 and renews locks for 0:05:00, so a message that takes longer runs again; write functionTimeout,"
        " and a longer maxAutoLockRenewalDuration",
    ),
    "a function that may run for ever": (
        {"function_timeout": None},
        GOOD,
        "host.json lets a function run for any time and renews locks for 0:05:00, so a message that takes longer runs again; write functionTimeout,"
        " and a longer maxAutoLockRenewalDuration",
    ),
    "messages that are fetched ahead": (
        {"prefetch_count": 7},
        GOOD,
        "host.json prefetches 7 messages, and a lock that expires while its message waits counts as a delivery; write a prefetchCount of 0",
    ),
    "a trigger that gives texts": (
        {},
        Trigger("orders", "orders"),
        "orders gets text, so the values of a JSON body overwrite the trigger metadata, including the delivery count; write"
        " data_type=func.DataType.BINARY on the trigger",
    ),
    "a trigger that completes nothing": (
        {},
        replace(GOOD, auto_complete=False),
        "messages of orders are not completed when it returns, so a processed message runs again when its lock expires; write"
        " auto_complete_messages=True on the trigger",
    ),
    "a host that completes nothing": (
        {"auto_complete_messages": False},
        GOOD,
        "messages of orders are not completed when it returns, so a processed message runs again when its lock expires; write"
        " auto_complete_messages=True on the trigger",
    ),
}


def test_a_trigger_that_completes_needs_no_host_that_does() -> None:
    options = HostOptions(function_timeout=MINUTE, auto_complete_messages=False)

    assert advice(options, [replace(GOOD, auto_complete=True)]) == ()


def test_the_example_shop_needs_no_advice() -> None:
    document = json.loads((Path(__file__).parents[3] / "host.json").read_text(encoding="utf-8"))

    assert advice(host_options(document, {}), [GOOD]) == ()


@pytest.mark.parametrize(("options", "trigger", "note"), NOTES.values(), ids=NOTES)
def test_what_is_wrong_is_said_with_what_to_write(options: dict[str, Any], trigger: Trigger, note: str) -> None:
    assert advice(HostOptions(**{"function_timeout": MINUTE, **options}), [trigger]) == (note,)
