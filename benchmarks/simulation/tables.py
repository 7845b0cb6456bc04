"""Results as the tables of docs/internals/scale.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from simulation.cell import Result, Spread
from simulation.prices import lambda_dollars, log_dollars, sqs_dollars

MILLION = 1_000_000

Column = tuple[str, Callable[[Result], str]]


def each(result: Result, total: float) -> float:
    """Return a total by message."""
    return total / result.cell.messages


def sqs_million(result: Result) -> float:
    """Return the dollars for SQS for a million messages."""
    return sqs_dollars(each(result, result.requests)) * MILLION


def lambda_million(result: Result) -> float:
    """Return the dollars for Lambda for a million messages."""
    return lambda_dollars(each(result, result.invocations), each(result, result.lambda_seconds)) * MILLION


def describe_spread(spread: Spread | None) -> str:
    """Return a spread in as few words as possible."""
    if spread is None:
        return "–"
    if spread.least == spread.most:
        return str(spread.least)
    return f"{spread.mean:.2f} ({spread.least} to {spread.most})"


def clock(time: timedelta) -> str:
    """Return a duration as hours, minutes and seconds."""
    return str(timedelta(seconds=round(time.total_seconds())))


ALWAYS: tuple[Column, ...] = (
    ("subject", lambda r: r.cell.subject),
    ("instances", lambda r: f"{r.cell.instances:,}"),
    ("at once", lambda r: f"{r.most_at_once:,}"),
    ("attempts", lambda r: describe_spread(r.failing)),
)
GOOD: tuple[Column, ...] = (
    ("of a good one", lambda r: describe_spread(r.good)),
    ("good given up", lambda r: f"{r.good_set_aside:,}"),
)
COST: tuple[Column, ...] = (
    ("calls", lambda r: f"{each(r, r.calls):.2f}"),
    ("requests", lambda r: f"{each(r, r.requests):.2f}"),
    ("invocations", lambda r: f"{each(r, r.invocations):.2f}"),
    ("SQS $", lambda r: f"{sqs_million(r):.2f}"),
    ("Lambda $", lambda r: f"{lambda_million(r):.2f}"),
    ("sum $", lambda r: f"{sqs_million(r) + lambda_million(r):.2f}"),
    ("done after", lambda r: clock(r.until_done)),
)


def table(results: Sequence[Result]) -> str:
    """Return the results, a row each."""
    has_good = any(result.good for result in results)
    columns = (*ALWAYS, *(GOOD if has_good else ()), *COST)
    rows = [[cell_of(result) for _, cell_of in columns] for result in results]
    return "\n".join(map(line, [[name for name, _ in columns], ["---"] * len(columns), *rows]))


def log_table(sizes: Mapping[str, float]) -> str:
    """Return the bytes that a failed message logs, by subject."""
    rows = [[subject, f"{size:,.0f}", f"{log_dollars(size) * MILLION:.2f}"] for subject, size in sizes.items()]
    return "\n".join(map(line, [["subject", "bytes", "log $"], ["---"] * 3, *rows]))


def line(cells: Sequence[str]) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(cells)} |"
