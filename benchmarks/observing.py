"""Print what observing costs: instructions per record by valgrind's callgrind where it is installed, else microseconds.

`observing.py` prints the table; `observing.py run WAY SIZE BATCHES` runs one way, for the table. WAY is one of `WAYS`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

from measuring import HERE, SOURCE
from subjects import Context, event

SIZE, BATCHES, REPEATS = 10, 40, 5
WAYS = ("none", "observe", "successes", "spans", "failing", "failing-observe", "failing-callback")


def handler(way: str) -> Callable[[Any, Any], Any]:
    """Return the endpoint of one way; those that fail do so at each attempt, and their client does nothing."""
    from recoverable import Delayed, Failed, Immediate, Recoverability
    from recoverable.aws import SqsEndpoint
    from recoverable.extensions import Observe

    observe = {
        "observe": Observe(),
        "successes": Observe(successes=True, traces=False),
        "spans": Observe(metrics=False),
        "failing-observe": Observe(),
        "failing-callback": Observe(on_immediate_retry=lambda facts, message: None, cloudwatch_namespace=None),
    }.get(way)
    if way in ("successes", "spans"):
        set_up_opentelemetry()

    def place_order(message: Any) -> None:
        message.json()
        if way.startswith("failing"):
            raise ConnectionError

    ladder = Recoverability(Immediate(5), Delayed(3, timedelta(seconds=10)), Failed("error"))
    client = silent_client() if way.startswith("failing") else None
    return SqsEndpoint(place_order, ladder, client=client, extensions=() if observe is None else (observe,))


def set_up_opentelemetry() -> None:
    """Set up the SDK as an application does, with exporters that keep nothing."""
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider

    trace.set_tracer_provider(TracerProvider())
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))


def silent_client() -> Any:
    """Return a client of SQS that confirms everything."""

    class Silent:
        meta = type("Meta", (), {"endpoint_url": "http://localhost"})

        def __getattr__(self, _name: str) -> Callable[..., Any]:
            return lambda **call: {"Successful": [{"Id": each["Id"]} for each in call["Entries"]]}

    return Silent()


def run(way: str, size: int, batches: int) -> float:
    """Handle so many batches, and return the microseconds per record, the best of five."""
    called, batch, context = handler(way), event(size), Context()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):  # the metrics are printed
        called(batch, context)  # what is imported at the first failure is no cost of each
        seconds = min(timeit.repeat(lambda: called(batch, context), number=batches, repeat=REPEATS))
    return seconds / batches / size * 1e6


def instructions(way: str, *, source: Path = SOURCE) -> float:
    """Return the instructions per record: those of many batches less those of few, so that the start is no part of it."""
    few, many = (collected(way, batches, source) for batches in (2, 2 + BATCHES))
    return (many - few) / (REPEATS * BATCHES * SIZE)


def collected(way: str, batches: int, source: Path) -> int:
    """Return the instructions of a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{HERE}", "PYTHONHASHSEED": "0"}
        program = [sys.executable, __file__, "run", way, str(SIZE), str(batches)]
        ended = subprocess.run([*valgrind, *program], env=environment, capture_output=True, text=True, check=True)
    (count,) = re.findall(r"Collected : (\d+)", ended.stderr)
    return int(count)


def table() -> None:
    """Print a line for each way: its cost, and its ratio to the one without observing."""
    counts = shutil.which("valgrind") is not None
    measure = instructions if counts else lambda way: run(way, SIZE, 2_000)
    sys.stdout.write(f"{'instructions' if counts else 'microseconds'} per record, batch of {SIZE}\n")
    found = {way: measure(way) for way in WAYS}
    for way, cost in found.items():
        base = found["failing" if way.startswith("failing") else "none"]
        sys.stdout.write(f"{way:18} {cost:12,.1f} {cost / base:6.2f}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        sys.stdout.write(f"{run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))}\n")
    else:
        table()
