"""What host.json says: its options with the host's defaults, and what is wrong with it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recoverable._service_bus.host_json import HostFile, HostOptions, Proxy, read_host_json

DEFAULTS = HostOptions(
    function_timeout=timedelta(minutes=30),
    auto_complete_messages=True,
    max_auto_lock_renewal_duration=timedelta(minutes=5),
    max_concurrent_calls=None,
    max_concurrent_sessions=8,
    max_message_batch_size=1000,
    session_idle_timeout=timedelta(minutes=1),
    prefetch_count=0,
    transport_type="amqpTcp",
    web_proxy=None,
)


def bus(**options: Any) -> dict[str, Any]:
    """Return a host.json with these options of the Service Bus extension."""
    return {"extensions": {"serviceBus": options}}


def read(folder: Path, document: Any, settings: dict[str, str] | None = None) -> HostFile:
    """Return what is read from a file with this content."""
    (folder / "host.json").write_text(json.dumps(document))
    return read_host_json(folder / "host.json", settings or {})


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
        (bus(transportType="AmqpWebSockets"), HostOptions(transport_type="amqpWebSockets")),
        (bus(webProxy="http://proxy.example:8080"), HostOptions(web_proxy=Proxy("proxy.example", 8080))),
        (bus(webProxy="http://me:secret@proxy.example/"), HostOptions(web_proxy=Proxy("proxy.example", 80))),
        (bus(webProxy="proxy.example"), HostOptions(web_proxy=Proxy("proxy.example", 80))),
        (bus(webProxy=""), DEFAULTS),
    ],
)
def test_options_are_read_with_the_defaults_of_the_host(tmp_path: Path, document: Any, options: HostOptions) -> None:
    assert read(tmp_path, document) == (options, document, ())


@pytest.mark.parametrize(
    "name",
    [
        "AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls",
        "azurefunctionsjobhost:extensions:servicebus:maxconcurrentcalls",
    ],
)
def test_app_settings_replace_values(tmp_path: Path, name: str) -> None:
    options = read(tmp_path, bus(maxConcurrentCalls=16), {name: "2"}).options

    assert options == HostOptions(max_concurrent_calls=2)


def test_in_the_consumption_plan_the_default_timeout_is_shorter(tmp_path: Path) -> None:
    assert read(tmp_path, {}, {"WEBSITE_SKU": "Dynamic"}).options.function_timeout == timedelta(minutes=5)


def test_a_missing_file_has_the_defaults_and_no_problem(tmp_path: Path) -> None:
    assert read_host_json(tmp_path / "host.json", {}) == (DEFAULTS, None, ())


ADDRESS = "write the address of a proxy, such as 'http://proxy.shop.example:8080'"
TIMES = "write hours, minutes and seconds, such as '00:05:00', or a day as '1.00:00:00'"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], 'it contains no object; write {"version": "2.0", ...}'),
        ({"functionTimeout": 300}, f"functionTimeout is 300; {TIMES}"),
        ({"functionTimeout": "24:00:00"}, f"functionTimeout is '24:00:00'; {TIMES}"),
        ({"functionTimeout": "00:00:00"}, "functionTimeout is '00:00:00'; write a second or more, or -1 for no limit"),
        (bus(maxConcurrentCalls=0), "maxConcurrentCalls is 0; write a whole number, 1 or more"),
        (bus(maxConcurrentCalls=True), "maxConcurrentCalls is True; write a whole number, 1 or more"),
        (bus(prefetchCount=-1), "prefetchCount is -1; write a whole number, 0 or more"),
        (bus(prefetchCount="²"), "prefetchCount is '²'; write a whole number, 0 or more"),
        (bus(autoCompleteMessages="yes"), "autoCompleteMessages is 'yes'; write true or false"),
        (bus(sessionIdleTimeout="soon"), f"sessionIdleTimeout is 'soon'; {TIMES}"),
        (bus(transportType="udp"), "transportType is 'udp'; write amqpTcp or amqpWebSockets"),
        (bus(webProxy="http://"), f"webProxy is 'http://'; {ADDRESS}"),
        (bus(webProxy="http://me:secret@proxy.example:x"), f"webProxy is 'http://...@proxy.example:x'; {ADDRESS}"),
    ],
)
def test_what_the_host_would_not_take_is_a_problem(tmp_path: Path, document: Any, problem: str) -> None:
    host = read(tmp_path, document)

    assert (host.options, host.problems) == (DEFAULTS, (f"{tmp_path / 'host.json'}: {problem}",))


def test_a_problem_names_the_app_setting_that_has_it_and_the_other_values_are_kept(tmp_path: Path) -> None:
    host = read(tmp_path, bus(prefetchCount=7), {"AzureFunctionsJobHost__functionTimeout": "soon"})

    setting = "the app setting AzureFunctionsJobHost__functionTimeout is 'soon'"
    assert host.options == HostOptions(prefetch_count=7)
    assert host.problems == (f"{tmp_path / 'host.json'}: {setting}; {TIMES}",)


@pytest.mark.parametrize("text", ['{"a":' * 100_000, "{" + '"' * 20_001, f'{{"functionTimeout": {"1" * 5_000}}}'])
def test_no_content_raises(tmp_path: Path, text: str) -> None:
    (tmp_path / "host.json").write_text(text)

    assert len(read_host_json(tmp_path / "host.json", {}).problems) == 1
