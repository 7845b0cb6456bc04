"""The `Events` of a function in a template: those that the local host serves, by their type, and notes on the others."""

from __future__ import annotations

from dataclasses import dataclass

from recoverable_local.lambda_host.sam.properties import Properties
from recoverable_local.lambda_host.sam.resources.schedules import is_on, is_rate, retries


@dataclass(frozen=True, slots=True)
class Events:
    """The properties of a function's events that are switched on, and notes on those that the local host leaves out."""

    queues: tuple[Properties, ...]
    schedules: tuple[Properties, ...]
    notes: tuple[str, ...]


def events_of(function: Properties) -> Events:
    """Sort the events of a function."""
    found: dict[str, list[Properties]] = {"SQS": [], "Schedule": []}
    notes: list[str] = []
    for name, event in function.part("Events").values.items():
        properties = Properties(f"{function.where}.{name}", event.get("Properties") or {}, function.scope)
        kind = str(event.get("Type"))
        if note := _left_out(kind, properties):
            notes.append(note)
        else:
            found[kind].append(properties)
    if found["Schedule"] and (times := retries(function)):
        notes.append(
            f"{function.where}: where its schedule's invocation fails, Lambda runs it again up to {times} times, and nothing here does"
        )
    return Events(tuple(found["SQS"]), tuple(found["Schedule"]), tuple(notes))


def _left_out(kind: str, event: Properties) -> str | None:
    """Why an event is not served; None when it is."""
    match kind:
        case "SQS":
            on = event.flag("Enabled", default=True)
            return None if on else f"{event.where} is not Enabled, so nothing here reads its queue"
        case "Schedule" if not is_on(event):
            return f"{event.where} is not Enabled, so nothing here invokes its function"
        case "Schedule" if not is_rate(event):
            return f"{event.where} is a schedule of cron, which nothing here follows; write a rate"
        case "Schedule":
            return None
        case _:
            return f"{event.where} is an event of Type {kind}, which nothing here sends"
