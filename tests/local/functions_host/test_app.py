"""Test the reading of an app's folder: host.json, local.settings.json, and the settings that override them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.functions_host.apps import MINIMAL, app
from recoverable_local.functions_host.app.folder import AppError, read_app
from recoverable_operate.templates import HostOptions, host_options

DEFAULTS = HostOptions(
    function_timeout=timedelta(minutes=30),
    auto_complete_messages=True,
    max_auto_lock_renewal_duration=timedelta(minutes=5),
    max_concurrent_calls=None,
    max_concurrent_sessions=8,
    max_message_batch_size=1000,
    session_idle_timeout=timedelta(minutes=1),
    prefetch_count=0,
)


def bus(**options: Any) -> dict[str, Any]:
    """Build a host.json with these options of the Service Bus extension."""
    return {**MINIMAL, "extensions": {"serviceBus": options}}


@pytest.mark.parametrize(
    ("document", "options"),
    [
        ({}, DEFAULTS),
        ({"functionTimeout": "00:10:00"}, HostOptions(function_timeout=timedelta(minutes=10))),
        ({"functionTimeout": "1.02:03:04"}, HostOptions(timedelta(days=1, hours=2, minutes=3, seconds=4))),
        ({"functionTimeout": "00:00:01.5"}, HostOptions(function_timeout=timedelta(seconds=1.5))),
        ({"functionTimeout": "-1"}, HostOptions(function_timeout=None)),
        ({"FunctionTimeout": "00:10"}, HostOptions(function_timeout=timedelta(minutes=10))),
        (bus(autoCompleteMessages=False), HostOptions(auto_complete_messages=False)),
        (bus(maxAutoLockRenewalDuration="00:00:00"), HostOptions(max_auto_lock_renewal_duration=timedelta(0))),
        (bus(maxConcurrentCalls=3), HostOptions(max_concurrent_calls=3)),
        (bus(maxConcurrentSessions="4"), HostOptions(max_concurrent_sessions=4)),
        (bus(MaxMessageBatchSize=5), HostOptions(max_message_batch_size=5)),
        (bus(sessionIdleTimeout="00:00:06"), HostOptions(session_idle_timeout=timedelta(seconds=6))),
        (bus(prefetchCount=7), HostOptions(prefetch_count=7)),
    ],
)
def test_host_json_is_read_with_the_defaults_of_the_host(document: Any, options: HostOptions) -> None:
    assert host_options(document, {}) == options


@pytest.mark.parametrize(
    "name",
    [
        "AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls",
        "azurefunctionsjobhost:extensions:servicebus:maxconcurrentcalls",
    ],
)
def test_app_settings_override_host_json(name: str) -> None:
    assert host_options(bus(maxConcurrentCalls=16), {name: "2"}) == HostOptions(max_concurrent_calls=2)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"functionTimeout": 300}, "functionTimeout is 300; write hours, minutes and seconds, such as '00:05:00'"),
        ({"functionTimeout": "00:00:00"}, "functionTimeout is '00:00:00'; write a second or more, or -1 for no limit"),
        (bus(maxConcurrentCalls=0), "maxConcurrentCalls is 0; write a whole number, 1 or more"),
        (bus(maxConcurrentCalls=True), "maxConcurrentCalls is True; write a whole number"),
        (bus(prefetchCount=-1), "prefetchCount is -1; write a whole number, 0 or more"),
        (bus(autoCompleteMessages="yes"), "autoCompleteMessages is 'yes'; write true or false"),
        (bus(sessionIdleTimeout="soon"), "sessionIdleTimeout is 'soon'; write hours, minutes and seconds"),
    ],
)
def test_what_the_host_would_not_take_is_refused(document: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        host_options(document, {})


def test_settings_stand_above_the_environment_and_that_above_local_settings(tmp_path: Path) -> None:
    folder = app(tmp_path, settings={"A": "local", "B": "local", "C": "local", "D": "local"})

    read = read_app(folder, given={"A": "given"}, environment={"A": "environment", "B": "environment", "C": ""})

    assert read.settings == {"A": "given", "B": "environment", "C": "local", "D": "local"}


def test_an_app_needs_no_local_settings(tmp_path: Path) -> None:
    assert read_app(app(tmp_path), given={}, environment={}).settings == {}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("host.json", "{", r"host\.json is no JSON: "),
        ("host.json", json.dumps({**MINIMAL, "functionTimeout": 1}), r"host\.json: functionTimeout is 1; write"),
        ("host.json", None, r"There is no .*host\.json; write one with .*extensionBundle"),
        ("function_app.py", None, r"There is no .*function_app\.py; give the folder of an app"),
        ("local.settings.json", "[]", r"local\.settings\.json: write"),
        ("local.settings.json", '{"Values": {"Retries": 5}}', "with every value a string"),
        ("local.settings.json", '{"IsEncrypted": true, "Values": {}}', "is encrypted; run func settings decrypt"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    folder = app(tmp_path)
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        (folder / name).write_text(content)

    with pytest.raises(AppError, match=said):
        read_app(folder, given={}, environment={})


def test_files_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (app(tmp_path) / "host.json").write_text("\ufeff" + json.dumps(bus(prefetchCount=2)), "utf-8")

    assert read_app(tmp_path, given={}, environment={}).options == HostOptions(prefetch_count=2)
