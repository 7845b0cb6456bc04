"""Describe one failed message whole, in lines: the way it went, headers, stack trace, body. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

from recoverable._ladder import faults
from recoverable.headers import FIRST_FAILED_AT, LOG_STREAM, REQUEST_ID, read_date
from recoverable_operate.failed import FailedMessage
from recoverable_operate.groups import group_of

MOST_BYTES = 512
"""Bytes of a body that is no text that are shown."""

ROW = 16


def details(message: FailedMessage) -> Iterator[str]:
    """Yield the lines that describe the message."""
    group = group_of(message)
    yield f"message {message.id}"
    yield f"group   {group.id}  {group.title}"
    yield from way(message)
    yield from ("", "headers")
    yield from (f"  {name}: {value}" for name, value in sorted(message.headers.items()) if name != faults.STACK_TRACE)
    if trace := message.headers.get(faults.STACK_TRACE):
        yield from ("", "stack trace")
        yield from (f"  {line}" for line in trace.splitlines())
    yield from ("", "body")
    yield from (f"  {line}" for line in body_lines(message))
    yield ""


def way(message: FailedMessage) -> Iterator[str]:
    """Yield the way that the message went, in the order of time, and where its log is."""
    attempts = f", attempt {message.attempts}" if message.attempts else ""
    steps = (
        (message.sent_at, "sent"),
        (read_date(message.headers, FIRST_FAILED_AT), "failed for the first time"),
        (
            read_date(message.headers, faults.TIME_OF_FAILURE),
            f"failed for the last time{attempts}, at {message.failed_queue}",
        ),
        (message.enqueued_at, f"came to the error queue{death(message)}"),
    )
    if message.problem:
        yield f"        cannot be read: {message.problem}; it is sent back only where --to names a queue"
    yield from (f"  {moment:%Y-%m-%d %H:%M:%S}  {what}" for moment, what in steps if moment)
    if message.redrives:
        yield f"  sent back {message.redrives} times before"
    for name, what in ((REQUEST_ID, "request"), (LOG_STREAM, "log stream")):
        if text := message.headers.get(name):
            yield f"  {what}: {text}"


def death(message: FailedMessage) -> str:
    """Return how a message without fault headers came here, as far as the broker says."""
    if message.problem or not message.unexplained:
        return ""
    if not message.died:
        return ", without a reason: the broker dead-lettered it, or something else sent it"
    source = f" from {message.source}" if message.source else ""
    return f": the broker dead-lettered it{source} ({message.reason or 'delivered too often'}); look there for crashes and time-outs"


def body_lines(message: FailedMessage) -> list[str]:
    """Return the body: JSON indented, text as it is, else bytes in hexadecimal."""
    if message.body is None:
        return [f"not with the message: {message.body_error}"]
    try:
        text = message.body.decode()
    except UnicodeDecodeError:
        return hexadecimal(message.body)
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False).splitlines()
    except (ValueError, RecursionError):
        return text.splitlines() or ["(empty)"]


def hexadecimal(body: bytes) -> list[str]:
    """Return the first bytes, in rows."""
    rows = [body[start : start + ROW].hex(" ") for start in range(0, min(len(body), MOST_BYTES), ROW)]
    return [f"{len(body):,} bytes, no text", *rows]
