"""Format what the command prints: a line for each journal entry, and how to send a message. Pure."""

from __future__ import annotations

import shlex

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

_CREDENTIALS = "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local"
"""The command signs with some credentials; no local broker looks which."""


def send_command(endpoint_url: str, queue_url: str, *, region: str) -> str:
    """Return a command that sends a message, for a POSIX shell in which nothing of AWS is configured."""
    options = {"--region": region, "--endpoint-url": endpoint_url, "--queue-url": queue_url, "--message-body": "{}"}
    command = " ".join(f"{name} {shlex.quote(value)}" for name, value in options.items())
    fifo = ' --message-group-id a --message-deduplication-id "$(date +%s%N)"' if queue_url.endswith(".fifo") else ""
    return f"{_CREDENTIALS} aws sqs send-message {command}{fifo}"


def format_entry(entry: Entry) -> str:
    """Describe a journal entry in one line."""
    match entry:
        case Started(function, pid):
            return f"{function}[{pid}] started"
        case Invoked():
            return _invoked(entry)
        case Ended():
            return _ended(entry)
        case FunctionLog(function, pid, line):
            return f"{function}[{pid}] {line}"
        case FilteredOut(mapping, ids):
            return f"{mapping}: {len(ids)} message(s) pass no filter and are deleted, as in AWS"
        case Throttled() | Expired() | BrokerTrouble():
            return _trouble(entry)


def _invoked(entry: Invoked) -> str:
    receives = [
        f"{one['messageId'][:8]} (receive {one['attributes']['ApproximateReceiveCount']})" for one in entry.records
    ]
    return f"{entry.function}[{entry.pid}] ← {', '.join(receives) or 'its schedule'}"


def _ended(entry: Ended) -> str:
    batch = entry.completed or entry.failed
    settled = f"{len(entry.completed)} completed, {len(entry.failed)} failed" if batch else "over"
    duration = entry.duration.total_seconds() * 1000
    return f"{entry.function}[{entry.pid}] → {settled} in {duration:.0f} ms" + (
        f"; {entry.reason}" if entry.reason else ""
    )


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
