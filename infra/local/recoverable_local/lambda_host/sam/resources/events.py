"""Sort the `Events` of a function by type, and write notes on those that the local host does not serve."""

from __future__ import annotations

from dataclasses import dataclass

from recoverable_local.lambda_host.sam.properties import Properties
from recoverable_local.lambda_host.sam.resources.schedules import async_retries, is_enabled, is_rate


@dataclass(frozen=True, slots=True)
class Events:
    """The properties of a function's enabled events by type, and notes on the events that the local host does not serve."""

    queues: tuple[Properties, ...]
    schedules: tuple[Properties, ...]
    notes: tuple[str, ...]


def events_of(function: Properties) -> Events:
    """Sort the events of a function by type, and write notes on those that are not served."""
    found: dict[str, list[Properties]] = {"SQS": [], "Schedule": []}
    notes: list[str] = []
    for name, event in function.part("Events").values.items():
        properties = Properties(f"{function.where}.{name}", event.get("Properties") or {}, function.scope)
        kind = str(event.get("Type"))
        if note := _left_out(kind, properties):
            notes.append(note)
        else:
            found[kind].append(properties)
    if found["Schedule"] and (times := async_retries(function)):
        notes.append(
            f"{function.where}: when its schedule's invocation fails, Lambda runs it again up to {times} times; this host does not"
        )
    return Events(tuple(found["SQS"]), tuple(found["Schedule"]), tuple(notes))


def _left_out(kind: str, event: Properties) -> str | None:
    """Return a note that says why an event is not served; None if it is served."""
    match kind:
        case "SQS":
            on = event.flag("Enabled", default=True)
            return None if on else f"{event.where} is not Enabled, so nothing here reads its queue"
        case "Schedule" if not is_enabled(event):
            return f"{event.where} is not Enabled, so nothing here invokes its function"
        case "Schedule" if not is_rate(event):
            return f"{event.where} is a cron schedule, which this host does not support; write a rate"
        case "Schedule":
            return None
        case _:
            return f"{event.where} is an event of Type {kind}, which this host does not send"
