"""Run a command as a user types it, read its output, and check if a process still runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from deadlines import DEADLINE

PATIENCE = DEADLINE


@contextmanager
def typed(*words: str) -> Iterator[subprocess.Popen[str]]:
    """`recoverable` with these words; it is killed in the end."""
    command = [sys.executable, "-m", "recoverable_operate", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line_with(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """Read on to a line; the session's time limit bounds the wait."""
    assert process.stdout is not None
    for line in process.stdout:
        if match := re.search(pattern, line):
            return match
    raise AssertionError(f"the output ends without {pattern!r}")


def is_alive(pid: int) -> bool:
    """True if a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ends(pid: int) -> bool:
    """True if a process ends now or soon."""
    end = time.monotonic() + PATIENCE
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_alive(pid)
