"""Format what the command prints: the lines for each journal entry, and how to send a message."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, assert_never

from rich.text import Text

from recoverable_local.decisions import Decided, says_end
from recoverable_local.lambda_host.journal import (
    BrokerTrouble,
    Ended,
    Entry,
    Expired,
    FilteredOut,
    FunctionLog,
    Invoked,
    Started,
    Throttled,
)
from recoverable_local.printing import RETRY_LOGGERS, short

_CREDENTIALS = "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local"
"""The command signs with some credentials; no local broker looks which."""


def send_command(endpoint_url: str, queue_url: str, *, region: str) -> str:
    """Return a command that sends a message, for a POSIX shell in which nothing of AWS is configured."""
    options = {"--region": region, "--endpoint-url": endpoint_url, "--queue-url": queue_url, "--message-body": "{}"}
    command = " ".join(f"{name} {shlex.quote(value)}" for name, value in options.items())
    fifo = ' --message-group-id a --message-deduplication-id "$(date +%s%N)"' if queue_url.endswith(".fifo") else ""
    return f"{_CREDENTIALS} aws sqs send-message {command}{fifo}"


def lines_of(entry: Entry, ends: Mapping[str, Decided] = MappingProxyType({})) -> Iterator[Text]:
    """Yield the lines for a journal entry; none for a decision, whose line is the same on both clouds.

    Args:
        entry: The entry.
        ends: What its endpoint has done with the messages of an invocation, by their ids.
    """
    match entry:
        case Started(function, pid):
            yield Text(f"{function}[{pid}] started")
        case Decided() | Invoked():
            pass  # how the invocation ends is shown
        case Ended():
            yield from _ended(entry, ends)
        case FunctionLog(function, pid, line):
            yield from (Text(f"{function}[{pid}] {each}", style="dim") for each in readable(line))
        case FilteredOut(mapping, ids):
            yield Text(f"{mapping}: {len(ids)} message(s) pass no filter and are deleted, as in AWS")
        case Throttled() | Expired() | BrokerTrouble():
            yield Text(_trouble(entry), style="red")
        case _:
            assert_never(entry)


def _ended(entry: Ended, ends: Mapping[str, Decided]) -> Iterator[Text]:
    when = "after its visibility timeout" if entry.after is None else f"in {entry.after.total_seconds():g} s"
    reason = f"  {entry.reason}" if entry.reason else ""
    for message_id in (each for each in entry.completed if not says_end(ends.get(each), comes_back=False)):
        yield Text(f"{entry.function} {short(message_id)}{reason}").append(" → completed", style="green")
    for message_id in (each for each in entry.failed if not says_end(ends.get(each), comes_back=True)):
        line = Text(f"{entry.function} {short(message_id)}{reason}")
        yield line.append(f" → comes back {when}", style="yellow")
    if not entry.completed and not entry.failed:
        line = Text(f"{entry.function} by its schedule{reason}")
        yield line.append(" → failed" if reason else " → done", style="red" if reason else "green")


def readable(line: str) -> list[str]:
    """Return what to show of a line of a function's log: none of a retry, which has a line of its own, and of JSON the text and its trace."""
    fields = _object(line)
    if fields.get("logger") in RETRY_LOGGERS:
        return []
    if not isinstance(fields.get("message"), str) or "level" not in fields:
        return [line]
    trace = fields.get("stackTrace")
    traced = "".join(map(str, trace)) if isinstance(trace, list) else ""
    raised = f"{fields['errorType']}: {fields.get('errorMessage', '')}" if "errorType" in fields else ""
    logger = f" {fields['logger']}" if "logger" in fields else ""
    text = f"{fields['level']}{logger}: {fields['message']}\n{traced}\n{raised}"
    return [each for each in text.split("\n") if each.strip()]


def _object(line: str) -> dict[str, Any]:
    try:
        document = json.loads(line) if line.startswith("{") else None
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _trouble(entry: Throttled | Expired | BrokerTrouble) -> str:
    match entry:
        case Throttled(function, ()):
            return f"{function} is throttled: its schedule waits for one of its reserved instances"
        case Expired(function, ()):
            return f"{function} had no free instance in time: its schedule skips this invocation"
        case Throttled(function, ids):
            return f"{function} is throttled: {len(ids)} message(s) wait for one of its reserved instances"
        case Expired(function, ids):
            return f"{function} had no free instance in time: {len(ids)} message(s) are visible again, with this receive counted"
        case BrokerTrouble(call, error, then):
            return f"{call} failed: {error}; {then}"
