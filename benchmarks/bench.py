"""`make bench`: ours beside aws-lambda-powertools' BatchProcessor, as one table; writes nothing into the repository."""

from __future__ import annotations

import tempfile
from statistics import median

from rich.console import Console
from rich.table import Table

from good_path import table as good_path
from measuring import HERE, Row, pairs, printed
from sending import table as sending
from stub_sqs import stub_sqs

RUNS = 7

FAILURES = {"late": "client made then", "init": "client made at init", "warm": "second failure"}
CLIENTS = {
    "boto3": "boto3, as we do",
    "botocore": "botocore",
    "bare": "botocore without built-in handlers",
    "located": "botocore with a given endpoint",
}


def closed_circuit(size: int) -> Row:
    """Measure the microseconds that a rate limit adds to a good record while nothing fails."""
    program = str(HERE / "closed_circuit.py")
    added = median(printed([program, str(size)]) for _ in range(3))
    return Row(f"a rate limit per good record, batch of {size:,} (µs)", added)


def importing(*, bytecode: bool) -> Row:
    """Measure the milliseconds to a first good batch, on top of the Lambda runtime client."""
    program = str(HERE / "importing.py")
    with tempfile.TemporaryDirectory() as cache:
        fresh = {} if bytecode else {"PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": "1"}
        ours, theirs = pairs([program, "ours", "ms"], [program, "theirs", "ms"], RUNS, fresh)
    return Row(f"import and first batch, {'with' if bytecode else 'without'} bytecode (ms)", ours, theirs)


def memory() -> Row:
    """Measure by how many megabytes a batch of 10,000 raises the process's peak."""
    program = str(HERE / "importing.py")
    ours, theirs = pairs([program, "ours", "kb"], [program, "theirs", "kb"], RUNS)
    return Row("peak memory of a first batch of 10,000 (MB)", ours / 1024, theirs / 1024)


def cold_start() -> Row:
    """Measure the milliseconds of a whole process, less those of one whose handler needs no library."""
    program = str(HERE / "cold_start.py")
    bare = [printed([program, "bare"]) for _ in range(RUNS)]
    ours, theirs = pairs([program, "ours"], [program, "theirs"], RUNS)
    least = sorted(bare)[len(bare) // 2]
    return Row(f"cold start to first response, beyond the bare {least:.0f} ms (ms)", ours - least, theirs - least)


def first_failures() -> Table:
    """Measure what the first failure of a process costs, and what would cost less."""
    table = Table("measured", "ms", title="ten messages that move to the error queue", title_justify="left")
    program = str(HERE / "first_failure.py")
    with stub_sqs() as (url, calls):
        for when, what in FAILURES.items():
            table.add_row(
                f"event to response, {what}", f"{median(printed([program, url, when]) for _ in range(RUNS)):.1f}"
            )
        counted = {name: count / (RUNS * (len(FAILURES) + 1)) for name, count in sorted(calls.items())}
    for way, what in CLIENTS.items():
        cost = median(printed([str(HERE / "clients.py"), way]) for _ in range(RUNS))
        table.add_row(f"a client by {what}", f"{cost:.1f}")
    table.caption = "broker calls for ten failed records: " + ", ".join(
        f"{count:g} {name}" for name, count in counted.items()
    )
    return table


def main() -> None:
    """Measure all and print the table."""
    table = Table(
        "measured",
        "recoverable",
        "powertools",
        "ratio",
        title="medians of runs in turn; compare the ratios",
        title_justify="left",
    )
    for row in (
        closed_circuit(10),
        closed_circuit(10_000),
        importing(bytecode=True),
        importing(bytecode=False),
        cold_start(),
        memory(),
    ):
        table.add_row(row.what, f"{row.ours:.2f}", "–" if row.theirs is None else f"{row.theirs:.2f}", row.ratio)
    console = Console()
    console.print(table)
    console.print(good_path())
    console.print(first_failures())
    console.print(sending())


if __name__ == "__main__":
    main()
