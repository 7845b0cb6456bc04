"""Format the lines that the command prints for each journal entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from rich.text import Text

from recoverable_local.decisions import Decided, says_end
from recoverable_local.functions_host.journal import Ended, Entry, FunctionLog, Invoked, Started, Trouble
from recoverable_local.functions_host.worker.outcomes import Returned, describe
from recoverable_local.printing import short

_SETTLED = {"completed": "completed", "abandoned": "abandoned, comes back", "left": "comes back when its lock ends"}


def lines_of(entry: Entry, ends: Mapping[str, Decided] = MappingProxyType({})) -> Iterator[Text]:
    """Yield the lines for a journal entry; none for a decision, whose line is the same on both clouds.

    Args:
        entry: The entry.
        ends: What its endpoint has done with the messages of an invocation, by their ids.
    """
    match entry:
        case Started(pid, functions):
            yield Text(f"worker[{pid}] started: {', '.join(functions)}")
        case Decided() | Invoked():
            pass  # how the invocation ends is shown
        case Ended():
            yield from _ended(entry, ends)
        case FunctionLog(pid, line):
            yield Text(f"worker[{pid}] {line}", style="dim")
        case Trouble(what, error, then):
            yield Text(f"{what} failed: {error}; {then}", style="red")
        case _:
            assert_never(entry)


def _ended(entry: Ended, ends: Mapping[str, Decided]) -> Iterator[Text]:
    reason = "" if isinstance(entry.outcome, Returned) else f"  {describe(entry.outcome)}"
    for each in entry.messages:
        settled = "left" if each.sequence_number in entry.left else entry.settled
        if settled != "left" and says_end(ends.get(each.message_id), comes_back=settled == "abandoned"):
            continue
        line = Text(f"{entry.function} {short(each.message_id)} delivery {each.delivery_count}{reason}")
        yield line.append(f" → {_SETTLED[settled]}", style="green" if settled == "completed" else "yellow")
