"""How fast a dispatcher works through a backlog, and in how much memory: SQLite, and DynamoDB as ministack serves it on this machine.

    PYTHONPATH=tests .venv/bin/python tests/benchmarks/timeouts_backlog.py 1000 10000 100000

Each run is a process of its own that does nothing else; SQS is one that counts, in that process. A figure against a server on the same machine says what
the dispatcher costs, and not what DynamoDB does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from recoverable.timeouts import Dispatcher, DynamoDbStore
from recoverable_local.timeouts import SqliteStore
from waiting.backlog import CountingSqs, fill
from waiting.stores import Cloud, ministack

NOW = datetime(2100, 1, 1, tzinfo=UTC)
SIZES = (1_000, 10_000, 100_000)


def main() -> None:
    """Print the table."""
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    assert max(sizes) <= max(SIZES), f"up to {max(SIZES):,}"
    print("| store | backlog | seconds | messages a second | peak MB |\n| --- | --- | --- | --- | --- |")  # noqa: T201
    with TemporaryDirectory() as folder, ministack(Path(folder)) as cloud:
        for size in (0, *sizes):
            path = Path(folder) / f"{size}.sqlite"
            local = SqliteStore(path)
            fill(local, size, NOW)
            local.close()
            table = cloud.store(DynamoDbStore)
            fill(table, size, NOW)
            for name, place in (("SQLite", str(path)), ("DynamoDB", f"{cloud.url} {table._table.name}")):
                figures = measured(place)
                assert figures["came"] == figures["sent"] == size, figures
                line = f"| {name} | {size:,} | {figures['seconds']:.1f} | {size / figures['seconds']:,.0f} | {figures['peak']:.0f} |"
                print(line, flush=True)  # noqa: T201


def measured(place: str) -> Any:
    """Measure in a process of its own."""
    run = subprocess.run([sys.executable, __file__, "--dispatch", place], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def dispatch(place: str) -> None:
    """Dispatch all that is due, and print how long it took."""
    url, _, table = place.rpartition(" ")
    store: Any = DynamoDbStore(table, client=Cloud(url).client("dynamodb")) if url else SqliteStore(place)
    sqs: Any = TickingSqs()
    began = time.perf_counter()
    report = Dispatcher(store, client=sqs, clock=lambda: NOW).run()
    seconds = time.perf_counter() - began
    figures = {"seconds": seconds, "peak": peak_memory(), "sent": report.dispatched, "came": sum(sqs.ticked)}
    print(json.dumps(figures))  # noqa: T201


class TickingSqs(CountingSqs):
    """Ticks off what comes, a byte each, for the memory that is measured is to be the dispatcher's."""

    def __init__(self) -> None:
        super().__init__()
        self.ticked = bytearray(max(SIZES))

    def send_message_batch(self, *, QueueUrl: str, Entries: list[Any]) -> Any:  # noqa: N803  # as boto3 has it
        for entry in Entries:
            self.ticked[int(entry["MessageBody"].partition(" ")[0].rpartition("-")[2], 16)] += 1
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}


def peak_memory() -> float:
    """Return the most memory that this process had, in MB, as Linux counts it; `getrusage` would include that of its parent."""
    [peak] = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(peak) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--dispatch"]:
        dispatch(sys.argv[2])
    else:
        main()
