"""Each reader of host.json takes from it what the Functions host does, and says what it cannot read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from answers.host_json_texts import READABLE, UNREADABLE, HostFile
from recoverable._service_bus.host_json import HostOptions
from recoverable.azure._waiting import MARGIN, host_options, longest_wait
from recoverable_local.functions_host import AppError
from recoverable_local.functions_host.app.folder import read_app
from recoverable_operate.rules import Unknown
from recoverable_operate.templates._host_file import read_host

every_readable_file = pytest.mark.parametrize("host", READABLE.values(), ids=READABLE)
every_unreadable_file = pytest.mark.parametrize("host", UNREADABLE.values(), ids=UNREADABLE)


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
    return longest_wait(host_options({"AzureWebJobsScriptRoot": str(folder), **host.settings}))


@every_readable_file
def test_the_runtime_waits_as_long_as_the_host_lets_it(
    tmp_path: Path, host: HostFile, caplog: pytest.LogCaptureFixture
) -> None:
    assert host.times is not None
    timeout, renewal = host.times
    shorter = renewal if timeout is None else min(timeout, renewal)
    written(tmp_path, host)

    assert (waits(tmp_path, host), caplog.text) == (max(shorter - MARGIN, timedelta(0)), "")


@every_unreadable_file
def test_the_runtime_warns_of_what_it_cannot_read(
    tmp_path: Path, host: HostFile, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path, host)

    waits(tmp_path, host)

    assert str(path) in caplog.text


@every_readable_file
def test_a_check_reads_what_the_host_reads(tmp_path: Path, host: HostFile) -> None:
    options = read_host(written(tmp_path, host), host.settings)

    assert isinstance(options, HostOptions)
    assert times_of(options) == host.times


@every_unreadable_file
def test_a_check_says_what_it_cannot_read(tmp_path: Path, host: HostFile) -> None:
    path = written(tmp_path, host)
    options = read_host(path, host.settings)

    assert isinstance(options, Unknown)
    assert options.why.startswith(f"{path}: ")


@every_readable_file
def test_the_local_host_reads_what_the_host_reads(tmp_path: Path, host: HostFile) -> None:
    written(tmp_path, host)

    assert times_of(read_app(tmp_path, given=host.settings, environment={}).options) == host.times


@every_unreadable_file
def test_the_local_host_says_what_it_cannot_read(tmp_path: Path, host: HostFile) -> None:
    path = written(tmp_path, host)

    with pytest.raises(AppError, match="^" + str(path)):
        read_app(tmp_path, given=host.settings, environment={})
