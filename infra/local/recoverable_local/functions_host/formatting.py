"""Format the lines that the command prints for each journal entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rich.text import Text

from recoverable_local.decisions import Decided
from recoverable_local.functions_host.journal import Ended, Entry, FunctionLog, Invoked, Started, Trouble
from recoverable_local.functions_host.worker.outcomes import Returned, describe
from recoverable_local.printing import short

_SETTLED = {"completed": "completed", "abandoned": "abandoned, comes back", "left": "comes back when its lock ends"}


def lines_of(entry: Entry) -> Iterator[Text]:
    """Yield the lines for a journal entry; none for a decision, whose line is the same on both clouds."""
    match entry:
        case Started(pid, functions):
            yield Text(f"worker[{pid}] started: {', '.join(functions)}")
        case Decided() | Invoked():
            pass  # how the invocation ends is shown
        case Ended():
            yield from _ended(entry)
        case FunctionLog(pid, line):
            yield Text(f"worker[{pid}] {line}", style="dim")
        case Trouble(what, error, then):
            yield Text(f"{what} failed: {error}; {then}", style="red")
        case _:
            assert_never(entry)


def _ended(entry: Ended) -> Iterator[Text]:
    reason = "" if isinstance(entry.outcome, Returned) else f"  {describe(entry.outcome)}"
    style = "green" if entry.settled == "completed" else "yellow"
    for each in entry.messages:
        line = Text(f"{entry.function} {short(each.message_id)} delivery {each.delivery_count}{reason}")
        yield line.append(f" → {_SETTLED[entry.settled]}", style=style)
