"""Prints the milliseconds, or the peak kilobytes, that a subject adds to the Lambda runtime client, and counts its instructions: `importing.py ours ms`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import awslambdaric.bootstrap  # noqa: F401  # what is there before any handler

from subjects import SUBJECTS, Context, event


def milliseconds(name: str) -> float:
    """Measure the time from nothing to a first good batch."""
    start = time.perf_counter()
    SUBJECTS[name]()(event(10), Context())
    return (time.perf_counter() - start) * 1e3


def kilobytes(name: str) -> float:
    """Return how far the first good batch, which is there already, raises the process's peak."""
    batch, before = event(10_000), peak()
    SUBJECTS[name]()(batch, Context())
    return peak() - before


def peak() -> float:
    """Return the process's own peak in kilobytes, as Linux counts it; `ru_maxrss` would include what the process that started it had."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


FIRST_RECORD = "import awslambdaric.bootstrap, subjects; batch = subjects.event(1); {}"
PACKAGES = {"ours": "recoverable", "theirs": "aws_lambda_powertools"}


def instructions(name: str, *, compiled: bool) -> int:
    """Return the instructions from nothing to a first good record, by callgrind, beyond those of the runtime client.

    Args:
        name: the subject, "ours" or "theirs".
        compiled: False to have its package compiled at import, as where a deployment brings no .pyc files.
    """
    called = f"subjects.SUBJECTS[{name!r}]()(batch, subjects.Context())"
    with TemporaryDirectory() as folder:
        package = Path(__import__(PACKAGES[name]).__file__ or "").parent
        shutil.copytree(package, Path(folder) / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        path = os.pathsep.join([folder, str(Path(__file__).parent)])
        if compiled:
            subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)
        return count(FIRST_RECORD.format(called), path) - count(FIRST_RECORD.format("pass"), path)


@cache
def count(program: str, path: str) -> int:
    """Return the instructions of a program that imports from a path."""
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", program]
    ended = subprocess.run(tool, env=environment, capture_output=True, text=True, check=True)
    return int(ended.stderr.partition("Collected : ")[2].split()[0])


if __name__ == "__main__":
    measure = {"ms": milliseconds, "kb": kilobytes}[sys.argv[2]]
    print(measure(sys.argv[1]))  # noqa: T201  # read by bench.py
