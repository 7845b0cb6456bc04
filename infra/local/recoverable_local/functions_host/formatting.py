"""Format the lines that the command prints for each journal entry."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from recoverable_local.decisions import Decided
from recoverable_local.functions_host.journal import Ended, Entry, FunctionLog, Invoked, Started, Trouble
from recoverable_local.functions_host.worker.outcomes import Returned, describe
from recoverable_local.printing import describe_decision, short

_SETTLED = {"completed": "completed", "abandoned": "abandoned, comes back", "left": "comes back when its lock ends"}


class Lines:
    """Returns the lines for each journal entry; of an invocation whose endpoint reported its decisions, these alone."""

    def __init__(self) -> None:
        self._reported = set[str]()

    def __call__(self, entry: Entry) -> Iterator[Text]:
        """Yield the lines for an entry."""
        match entry:
            case Decided(facts=facts):
                self._reported.add(facts.request_id)
                yield describe_decision(entry)
            case Started(pid, functions):
                yield Text(f"worker[{pid}] started: {', '.join(functions)}")
            case Invoked():
                pass  # how it ends is shown
            case Ended():
                reported = entry.invocation_id in self._reported
                self._reported.discard(entry.invocation_id)
                yield from () if reported else _ended(entry)
            case FunctionLog(pid, line):
                yield Text(f"worker[{pid}] {line}", style="dim")
            case Trouble(what, error, then):
                yield Text(f"{what} failed: {error}; {then}", style="red")


def _ended(entry: Ended) -> Iterator[Text]:
    reason = "" if isinstance(entry.outcome, Returned) else f"  {describe(entry.outcome)}"
    style = "green" if entry.settled == "completed" else "yellow"
    for each in entry.messages:
        line = Text(f"{entry.function} {short(each.message_id)} delivery {each.delivery_count}{reason}")
        yield line.append(f" → {_SETTLED[entry.settled]}", style=style)
