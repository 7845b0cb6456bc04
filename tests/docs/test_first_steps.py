"""Follow the first service on each cloud: its files and commands as they stand do what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deadlines import DEADLINE, eventually
from docs.pages import blocks_of, commands, files, page
from recoverable_local.testing import ServiceBusWorld, SqsWorld

AWS, AZURE = page("start/aws.md"), page("start/azure.md")


def write_files(folder: Path, text: str) -> None:
    """Write the files that a page gives."""
    for name, code in files(text).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")


class Reader:
    """A reader in a folder with the files of a page, whose local host runs.

    Args:
        folder: where the files are.
        exports: the variables that the section sets, with the port on which the host listens.
        looks: the commands by which the section looks at the error queue, with that port.
    """

    def __init__(self, folder: Path, exports: dict[str, str], looks: tuple[str, ...]) -> None:
        self._folder, self._exports, self._looks = folder, exports, looks

    def sends(self) -> None:
        """Send the page's orders."""
        self._runs("send.py")

    def sees(self) -> list[str]:
        """Return what each command prints that looks at the error queue."""
        return [self._runs("-m", "recoverable_operate", *shlex.split(look)[1:]) for look in self._looks]

    def _runs(self, *words: str) -> str:
        """Run Python with these words; return what it prints."""
        variables = {**os.environ, **self._exports, "NO_PROXY": "127.0.0.1,localhost", "COLUMNS": "200"}
        command = [sys.executable, *words]
        done = subprocess.run(
            command, cwd=self._folder, env=variables, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def following(folder: Path, text: str, listening: str) -> Iterator[tuple[Reader, Path]]:
    """Run a section's host on a free port; yield its reader, and the file into which the host writes.

    Args:
        folder: where the section's files are.
        text: the section.
        listening: a pattern for the line that says on which port the host listens.
    """
    lines = [command for block in blocks_of(text, "console") for command in commands(block)]
    [run] = [line for line in lines if line.startswith("recoverable local ")]
    _, *words, option, port = shlex.split(run)
    assert option == "--port"
    assert f"on port {port} of this machine" in text
    exported = [word for line in lines if line.startswith("export ") for word in shlex.split(line)[1:]]
    output = folder / "output"
    command = [sys.executable, "-m", "recoverable_operate", *words, "--port", "0"]
    with output.open("w") as written, subprocess.Popen(command, cwd=folder, stdout=written, stderr=written) as process:
        try:
            free = wait_for(output, listening)[1]
            exports = dict(word.replace(f":{port}", f":{free}").split("=", 1) for word in exported)
            looks = tuple(line.replace(f":{port}", f":{free}") for line in lines if "recoverable errors " in line)
            yield Reader(folder, exports, looks), output
        finally:
            process.kill()


def wait_for(output: Path, pattern: str) -> re.Match[str]:
    """Wait until a host has written what matches a pattern.

    Raises:
        AssertionError: it did not in time.
    """
    found = eventually(
        lambda: re.search(pattern, output.read_text(encoding="utf-8")),
        repr(pattern),
        state=lambda: output.read_text(encoding="utf-8"),
    )
    assert found
    return found


VARYING = re.compile(r"(?P<time>^\d\d:\d\d:\d\d)|(?P<id>\b[0-9a-f]{8}\b)|(?P<pid>(?<=\[)\d+(?=\]))")
"""What differs from run to run in a line of a host: the time, the beginning of an id, a process's id."""


def pattern_of(line: str) -> str:
    """Return a pattern for a line that the page shows of a host, as another run prints it."""
    parts, ends = [], 0
    for found in VARYING.finditer(line):
        parts += [
            re.escape(line[ends : found.start()]),
            {"time": r"[\d:]{8}", "id": "[0-9a-f]{8}"}.get(found.lastgroup or "", r"\d+"),
        ]
        ends = found.end()
    return f"(?m)^{''.join(parts)}{re.escape(line[ends:])}$"


def check_what_happens(reader: Reader, output: Path, text: str) -> None:
    """Send the page's orders, and check that they fare as it says, but for the end of the long one."""
    reader.sends()

    [shown_lines] = blocks_of(text, "text")
    for line in shown_lines.splitlines():
        wait_for(output, pattern_of(line))
    groups, shown, *sent = reader.sees()
    assert "orders.CardDeclined: orders.place_order" in groups
    assert all(text in shown for text in ("1002", "orders.CardDeclined", "do not honour", 'orders.py", line ')), shown
    assert all("send 1 to sb://" in plan for plan in sent), sent


@pytest.mark.slow
def test_the_steps_on_aws_do_what_they_say(tmp_path: Path) -> None:
    write_files(tmp_path, AWS)

    with following(tmp_path, AWS, r"SQS at http://127\.0\.0\.1:(\d+)") as (reader, output):
        assert not re.search("^note .*(?<!in the template)$", output.read_text(encoding="utf-8"), re.MULTILINE)
        check_what_happens(reader, output, AWS)


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_the_steps_on_azure_do_what_they_say(tmp_path: Path) -> None:
    write_files(tmp_path, AZURE)

    with following(tmp_path, AZURE, r"Endpoint=sb://127\.0\.0\.1:(\d+)") as (reader, output):
        assert "note " not in output.read_text(encoding="utf-8")
        check_what_happens(reader, output, AZURE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder from which modules are imported, and forget them afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("orders", "app", "function_app"):
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setitem(sys.modules, name, sys)  # so that the true one is taken out in the end
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def shown_test(text: str) -> Callable[..., None]:
    """Return the test that a page shows."""
    names: dict[str, Any] = {}
    exec(compile(blocks_of(text, "python")[3], "test_orders.py", "exec"), names)  # our own page
    [shown] = [value for name, value in names.items() if name.startswith("test_")]
    found: Callable[..., None] = shown
    return found


def test_the_test_for_aws_passes(folder: Path, monkeypatch: pytest.MonkeyPatch, sqs_world: SqsWorld) -> None:
    write_files(folder, AWS)
    monkeypatch.syspath_prepend(folder / "src")

    shown_test(AWS)(sqs_world)


def test_the_test_for_azure_passes(folder: Path, service_bus_world: ServiceBusWorld) -> None:
    write_files(folder, AZURE)

    shown_test(AZURE)(service_bus_world)
