"""Test the notes on an app that Azure accepts but that would repeat or miscount messages there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recoverable._service_bus.host_json import HostOptions, read_host_json
from recoverable_local.functions_host.app.advice import advice
from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_operate.rules import worker_threads

ROOT = Path(__file__).parents[3]
MINUTE = timedelta(minutes=1)
GOOD = Trigger("orders", "orders", binary=True)
PLAIN = replace(GOOD, function="invoices", queue="invoices")
ENOUGH = {"PYTHON_THREADPOOL_THREAD_COUNT": "1000"}
NOTES: dict[str, tuple[dict[str, Any], Trigger, str]] = {
    "a lock that ends before the function does": (
        {"function_timeout": 6 * MINUTE, "max_auto_lock_renewal_duration": 5 * MINUTE},
        GOOD,
        "host.json lets a function run for 0:06:00 and renews locks for 0:05:00, so a message that takes longer cannot be completed, and runs again until it is given up; write functionTimeout,"
        " and a longer maxAutoLockRenewalDuration",
    ),
    "a function that may run for ever": (
        {"function_timeout": None},
        GOOD,
        "host.json lets a function run for any time and renews locks for 0:05:00, so a message that takes longer cannot be completed, and runs again until it is given up; write functionTimeout,"
        " and a longer maxAutoLockRenewalDuration",
    ),
    "messages that are fetched ahead": (
        {"prefetch_count": 7},
        GOOD,
        "host.json prefetches 7 messages, and a lock that expires while its message waits counts as a delivery, so messages lose attempts without having run; write a prefetchCount of 0",
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

    assert advice(options, [replace(GOOD, auto_complete=True)], ENOUGH) == ()


def test_the_example_shop_needs_no_advice() -> None:
    options = read_host_json(ROOT / "host.json", {}).options
    settings = json.loads((ROOT / "local.settings.example.json").read_text(encoding="utf-8"))["Values"]

    assert advice(options, [GOOD], settings) == ()


@pytest.mark.parametrize(("options", "trigger", "note"), NOTES.values(), ids=NOTES)
def test_what_is_wrong_is_said_with_what_to_write(options: dict[str, Any], trigger: Trigger, note: str) -> None:
    assert advice(HostOptions(**{"function_timeout": MINUTE, **options}), [trigger], ENOUGH) == (note,)


@pytest.mark.parametrize(
    ("triggers", "calls", "threads", "fewer"),
    [
        ([GOOD], 16, 15, "a maxConcurrentCalls of 15 into host.json, or "),
        ([GOOD, PLAIN], 32, 31, ""),
        ([replace(GOOD, sessions=True)], 8, 7, ""),
        ([replace(GOOD, many=True), PLAIN], 17, 16, ""),
    ],
    ids=["messages", "of two functions", "sessions", "a batch"],
)
def test_fewer_threads_than_messages_at_a_time_are_said_with_a_setting_that_helps(
    triggers: list[Trigger], calls: int, threads: int, fewer: str
) -> None:
    options = HostOptions(function_timeout=MINUTE, max_concurrent_calls=16)

    assert advice(options, triggers, {"PYTHON_THREADPOOL_THREAD_COUNT": str(calls)}) == ()
    assert advice(options, triggers, {"PYTHON_THREADPOOL_THREAD_COUNT": str(threads)}) == (
        f"up to {calls} invocations of plain functions run at a time, and the worker has {threads} threads, so the others wait for one while"
        f" their functionTimeout runs; write {fewer}the app setting PYTHON_THREADPOOL_THREAD_COUNT of {calls}",
    )


def test_coroutines_need_no_threads() -> None:
    assert advice(HostOptions(function_timeout=MINUTE), [replace(GOOD, is_coroutine=True)], {}, cores=2) == ()


@pytest.mark.parametrize(
    ("setting", "threads"), [("16", 16), (None, 6), ("none", 6), ("0", 6)], ids=["set", "unset", "no number", "too few"]
)
def test_the_workers_threads_are_those_of_the_setting_or_of_python(setting: str | None, threads: int) -> None:
    settings = {} if setting is None else {"python_threadpool_thread_count": setting}

    assert worker_threads(settings, cores=2) == threads


def test_two_functions_on_one_queue_are_said() -> None:
    audit = replace(GOOD, function="audit", queue="ORDERS")

    assert advice(HostOptions(function_timeout=MINUTE), [GOOD, audit, PLAIN], ENOUGH) == (
        "orders reads the same queue as audit, so each message runs in one of them only, whichever receives it first; write a queue for each,"
        " fed by a topic's subscriptions",
    )


def test_two_subscriptions_of_a_topic_are_two_queues() -> None:
    subscriptions = [replace(GOOD, function=name, subscription=name) for name in ("orders", "audit")]

    assert advice(HostOptions(function_timeout=MINUTE), subscriptions, ENOUGH) == ()
