"""Format a journal entry as the line that the command prints. Pure."""

from __future__ import annotations

from recoverable_local.functions_host.journal import Ended, Entry, FunctionLog, Invoked, Started, Trouble
from recoverable_local.functions_host.worker.outcomes import Returned, describe


def format_entry(entry: Entry) -> str:
    """Describe a journal entry in one line."""
    match entry:
        case Started(pid, functions):
            return f"worker[{pid}] started: {', '.join(functions)}"
        case Invoked():
            given = (f"{each.message_id} (delivery {each.delivery_count})" for each in entry.messages)
            return f"{entry.function} ← {', '.join(given)}"
        case Ended():
            return f"{entry.function} → {_ended(entry)}"
        case FunctionLog(pid, line):
            return f"worker[{pid}] {line}"
        case Trouble(what, error, then):
            return f"{what} failed: {error}; {then}"


def _ended(entry: Ended) -> str:
    duration = entry.duration.total_seconds() * 1000
    reason = "" if isinstance(entry.outcome, Returned) else f"; {describe(entry.outcome)}"
    return f"{entry.settled} in {duration:.0f} ms{reason}"
