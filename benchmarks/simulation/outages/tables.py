"""Results as the table of docs/internals/outages.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from simulation.outages.cell import Result
from simulation.tables import clock, line

CENT = 0.01

Column = tuple[str, Callable[[Result], str]]


def after(time: timedelta | None) -> str:
    """Return how long after the end of the outage something was, in words."""
    return "–" if time is None else clock(time)


COLUMNS: tuple[Column, ...] = (
    ("way", lambda r: r.cell.way),
    ("cloud", lambda r: r.cell.cloud),
    ("instances", lambda r: str(r.cell.instances)),
    ("in the error queue", lambda r: f"{r.set_aside:,}"),
    ("processed", lambda r: f"{r.placed:,}"),
    ("fewest attempts left", lambda r: str(r.fewest_left)),
    ("attempts in the outage", lambda r: f"{r.failed:,}"),
    ("normal speed after", lambda r: after(r.normal)),
    ("all done after", lambda r: after(r.done)),
    ("invocations", lambda r: f"{r.invocations:,}"),
    ("broker calls", lambda r: f"{r.calls:,}"),
    ("store calls", lambda r: f"{r.store_calls:,}"),
    ("$", lambda r: f"{r.dollars:.2f}" if r.dollars >= CENT else "< 0.01"),
)


def table(results: Sequence[Result]) -> str:
    """Return the results, a row each."""
    heads = [name for name, _ in COLUMNS]
    return "\n".join(map(line, [heads, ["---"] * len(COLUMNS), *map(row, results)]))


def row(result: Result) -> list[str]:
    """Return one result."""
    return [cell_of(result) for _, cell_of in COLUMNS]
