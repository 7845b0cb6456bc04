"""Describe one message whole, in lines: the way it went, where its log is, headers, stack trace and body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

from recoverable._ladder import faults
from recoverable.headers import FIRST_FAILED_AT, LOG_GROUP, LOG_STREAM, REQUEST_ID, VERSION, read_date
from recoverable_operate._commands.display import time_text
from recoverable_operate._commands.places import Place
from recoverable_operate.errors import FailedMessage, group_of
from recoverable_operate.errors._message import FRAME

MOST_BYTES = 512
"""Bytes of a body that is no text that are shown."""

ROW = 16

CONSOLES = {
    "aws": "console.aws.amazon.com",
    "aws-cn": "console.amazonaws.cn",
    "aws-us-gov": "console.amazonaws-us-gov.com",
}
"""The host of the console in each partition: a link to no other host is ever shown."""

PORTAL = "https://portal.azure.com/#blade/Microsoft_OperationsManagementSuite_Workspace/Logs.ReactView"

END_OF_CAUSE = "--- End of inner exception stack trace ---"


def lines_of(message: FailedMessage, place: Place, address: str) -> Iterator[str]:
    """Yield the lines that describe the message.

    Args:
        message: the message.
        place: names the Application Insights that has the log.
        address: the full address of the error queue.
    """
    group = group_of(message)
    yield f"message {message.id}"
    yield f"group   {group.id}  {group.title}"
    yield from way(message)
    yield from log_lines(message, place, address)
    yield from ("", "headers")
    yield from (f"  {name}: {value}" for name, value in sorted(message.headers.items()) if name != faults.STACK_TRACE)
    if trace := message.headers.get(faults.STACK_TRACE):
        yield from ("", "stack trace (most recent call last)" if (lines := in_order_of_calls(trace)) else "stack trace")
        yield from (f"  {line}" for line in lines or trace.expandtabs().splitlines())
    yield from ("", "body")
    yield from (f"  {line}" for line in body_lines(message))
    yield ""


def way(message: FailedMessage) -> Iterator[str]:
    """Yield the way that the message went, in the order of time."""
    attempts = f", attempt {message.attempts}" if message.attempts else ""
    took = "" if message.handler_time is None else f" after {message.handler_time.total_seconds():,.3f} s"
    steps = (
        (message.sent_at, "sent"),
        (read_date(message.headers, FIRST_FAILED_AT), "failed for the first time"),
        (
            read_date(message.headers, faults.TIME_OF_FAILURE),
            f"failed for the last time{took}{attempts}, at {message.failed_queue}",
        ),
        (message.enqueued_at, f"came to the error queue{death(message)}"),
    )
    if message.problem:
        yield f"        cannot be read: {message.problem}; it is sent back only where --to names a queue"
    if message.unsendable:
        yield f"        cannot be copied: {message.unsendable}; it stays where it is"
    yield from (f"  {time_text(moment)}  {what}" for moment, what in steps if moment)
    if message.redrives:
        yield f"  sent back {message.redrives} times before"


def death(message: FailedMessage) -> str:
    """Return how a message without fault headers came here, as far as the broker says."""
    if message.problem or not message.unexplained:
        return ""
    if not message.died:
        return ", without a reason: the broker dead-lettered it, or something else sent it"
    source = f" from {message.source}" if message.source else ""
    return f": the broker dead-lettered it{source} ({message.reason or 'delivered too often'}); look there for crashes and time-outs"


def log_lines(message: FailedMessage, place: Place, address: str) -> Iterator[str]:
    """Yield where the log of the last attempt is, and a link to it or a query for it."""
    for name, what in (
        (REQUEST_ID, "request"),
        (LOG_GROUP, "log group"),
        (LOG_STREAM, "log stream"),
        (VERSION, "version"),
    ):
        if text := message.headers.get(name):
            yield f"  {what}: {text}"
    if place.on_service_bus:
        query = f"union traces, exceptions | where * has {json.dumps(message.id)} | order by timestamp asc"
        yield f"  log: {query}" if place.app_insights is None else f"  log: {link_to_query(place.app_insights, query)}"
    elif link := link_to_log(message, address):
        yield f"  log: {link}"


def link_to_log(message: FailedMessage, address: str) -> str | None:
    """Return a link to the log stream in CloudWatch's console, at the request; None where the message names neither.

    With SnapStart it names the request alone: the link leads there in all streams of the function's group.

    The partition, which chooses the host, is that of the error queue. The console encodes each value twice, and writes $ for the
    second one's %.
    """
    _, partition, _, region, *_ = address.split(":")
    names = (LOG_GROUP, LOG_STREAM, REQUEST_ID, faults.HOST_NAME)
    group, stream, request, function = (message.headers.get(name) for name in names)
    if group is None and request and function:
        group = f"/aws/lambda/{function}"
    if not (group and (stream or request) and partition in CONSOLES):
        return None
    at = f"?filterPattern={quote(json.dumps(request), safe='')}" if request else ""
    events = f"log-events/{twice(stream)}" if stream else "log-events"
    path = f"log-group/{twice(group)}/{events}{quote(at, safe='').replace('%', '$')}"
    return f"https://{CONSOLES[partition]}/cloudwatch/home?region={quote(region, safe='')}#logsV2:log-groups/{path}"


def twice(text: str) -> str:
    """Return the text as CloudWatch's console has it in a link."""
    return quote(quote(text, safe=""), safe="").replace("%", "$")


def link_to_query(resource: str, query: str) -> str:
    """Return a link to a query of an Application Insights in Azure's portal."""
    source = "source/LogsBlade.AnalyticsShareLinkToQuery"
    return f"{PORTAL}/resourceId/{quote(resource, safe='')}/{source}/query/{quote(query, safe='')}"


def in_order_of_calls(trace: str) -> list[str]:
    """Return the trace as Python writes one: causes first, the last call of each at its end; nothing where it is not Python's, or was cut.

    On the wire it is as .NET writes one: all exceptions in the first line, then the frames, last call first.
    """
    lines = trace.splitlines()
    first = next((number for number, line in enumerate(lines) if FRAME.fullmatch(line)), len(lines))
    heads = "\n".join(lines[:first]).split(" ---> ")
    parts: list[list[str]] = [[]]
    for line in lines[first:]:
        if line.strip() == END_OF_CAUSE:
            parts.append([])
        elif (frame := FRAME.fullmatch(line)) and (frame["file"] or "").endswith((".py", ">")):
            parts[-1].insert(0, f'File "{frame["file"]}", line {frame["line"]}, in {frame["call"]}')
        else:
            return []
    if len(heads) != len(parts) or parts == [[]]:
        return []
    ordered: list[str] = []
    for head, part in zip(reversed(heads), parts, strict=True):
        ordered += [*(["which led to:"] if ordered else []), *(f"  {line}" for line in part), *head.splitlines()]
    return ordered


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
        return text.expandtabs().splitlines() or ["(empty)"]


def hexadecimal(body: bytes) -> list[str]:
    """Return the first bytes, in rows."""
    rows = [body[start : start + ROW].hex(" ") for start in range(0, min(len(body), MOST_BYTES), ROW)]
    return [f"{len(body):,} bytes, no text", *rows]
