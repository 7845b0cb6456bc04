"""Hold the lines that a host prints to what became of each message: it came again exactly where the last line about a delivery says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from recoverable_local.decisions import Decided
from recoverable_local.printing import Printer, short

COMES_AGAIN = ("comes back", "→ retry", "→ wait")


def untrue_lines(
    entries: Iterable[Any],
    invoked: type,
    names_of: Callable[[Any], Iterable[str]],
    lines_of: Any,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    """Return what a host has printed last about a delivery that is not what came next.

    Args:
        entries: the host's journal, of a run that has come to its end.
        invoked: the kind of the entries with which an invocation begins.
        names_of: returns the ids of an invocation's messages.
        lines_of: returns the host's lines for an entry.
        capsys: takes what is printed.
    """
    printer = Printer[Any](lines_of, raw=False)
    said: dict[tuple[str, str], str] = {}
    requests: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, invoked):
            for name in names_of(entry):
                requests[short(name)].append(entry.request_id)  # type: ignore[attr-defined]
        request = entry.facts.request_id if isinstance(entry, Decided) else getattr(entry, "request_id", "")
        printer(entry)
        for line in capsys.readouterr().out.splitlines():
            said |= {(request, word): line for word in line.split() if word in requests}
    untrue = list[str]()
    for name, its in requests.items():
        for number, request in enumerate(its, 1):
            line = said.get((request, name), "nothing is said")
            if any(each in line for each in COMES_AGAIN) != (number < len(its)):
                untrue.append(f"{name}, delivery {number} of {len(its)}: {line}")
    return untrue
