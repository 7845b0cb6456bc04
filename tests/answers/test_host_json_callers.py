"""Each reader of host.json takes from it what the Functions host does, and says what it cannot read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from answers.cases import cases
from answers.host_json_texts import READABLE, UNREADABLE, HostFile
from recoverable._service_bus.host_json import MARGIN, longest_wait
from recoverable_local.functions_host import AppError
from recoverable_local.functions_host.app.folder import read_app
from recoverable_operate.rules import Unknown
from recoverable_operate.templates import HostOptions
from recoverable_operate.templates._function_app import read_host

COMMA, MINUTES = ["a comma behind the last member"], ["more minutes than an hour has"]


def written(folder: Path, host: HostFile) -> Path:
    """Write the file into an app's folder, and return its path."""
    (folder / "function_app.py").touch()
    path = folder / "host.json"
    if host.text is None:
        path.mkdir()
    else:
        path.write_bytes(host.text if isinstance(host.text, bytes) else host.text.encode())
    return path


def times_of(options: HostOptions) -> tuple[timedelta | None, timedelta]:
    """Return the times of the table."""
    return options.function_timeout, options.max_auto_lock_renewal_duration


def waits(folder: Path, host: HostFile) -> timedelta:
    """Return for how long an invocation waits in place, as the runtime reads it."""
    return longest_wait({"AzureWebJobsScriptRoot": str(folder), **host.settings})


@pytest.mark.parametrize(
    "host",
    cases(
        READABLE.items(),
        {
            "only comments on a line of their own are read": [
                "a comment behind a value",
                "a comment over two lines",
                "a comment within a line",
            ],
            "a comma behind the last member is not read": COMMA,
            "a byte order mark is not read": ["a byte order mark"],
            "names are read in one case only": ["a section in another case", "names in another case"],
            "a duration without seconds is not read": ["days, hours and minutes", "hours and minutes"],
            "a fraction of a second is left out": ["a fraction of a second"],
            "no limit is read in one form only": ["no limit, as a number", "no limit, in full"],
            "an app setting with a colon is not found": ["an app setting with a colon"],
        },
    ),
)
def test_the_runtime_waits_as_long_as_the_host_lets_it(
    tmp_path: Path, host: HostFile, caplog: pytest.LogCaptureFixture
) -> None:
    assert host.times is not None
    timeout, renewal = host.times
    shorter = renewal if timeout is None else min(timeout, renewal)
    written(tmp_path, host)

    assert (waits(tmp_path, host), caplog.text) == (max(shorter - MARGIN, timedelta(0)), "")


@pytest.mark.parametrize(
    "host",
    cases(UNREADABLE.items(), {"a default takes the place of what cannot be read, without a warning": UNREADABLE}),
)
def test_the_runtime_warns_of_what_it_cannot_read(
    tmp_path: Path, host: HostFile, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path, host)

    waits(tmp_path, host)

    assert str(path) in caplog.text


@pytest.mark.parametrize("host", cases(READABLE.items(), {"a comma behind the last member is not read": COMMA}))
def test_a_check_reads_what_the_host_reads(tmp_path: Path, host: HostFile) -> None:
    options = read_host(written(tmp_path, host), host.settings)

    assert isinstance(options, HostOptions)
    assert times_of(options) == host.times


@pytest.mark.parametrize("host", cases(UNREADABLE.items(), {"minutes beyond 59 are read": MINUTES}))
def test_a_check_says_what_it_cannot_read(tmp_path: Path, host: HostFile) -> None:
    path = written(tmp_path, host)
    options = read_host(path, host.settings)

    assert isinstance(options, Unknown)
    assert options.why.startswith(f"{path}: ")


@pytest.mark.parametrize("host", cases(READABLE.items(), {"a comma behind the last member is not read": COMMA}))
def test_the_local_host_reads_what_the_host_reads(tmp_path: Path, host: HostFile) -> None:
    written(tmp_path, host)

    assert times_of(read_app(tmp_path, given=host.settings, environment={}).options) == host.times


@pytest.mark.parametrize(
    "host",
    cases(
        UNREADABLE.items(),
        {"minutes beyond 59 are read": MINUTES, "the error of the file system is raised as it is": ["a folder"]},
    ),
)
def test_the_local_host_says_what_it_cannot_read(tmp_path: Path, host: HostFile) -> None:
    path = written(tmp_path, host)

    with pytest.raises(AppError, match="^" + str(path)):
        read_app(tmp_path, given=host.settings, environment={})
