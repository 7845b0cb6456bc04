"""Sort the `Events` of a function by type, and write notes on those that the local host does not serve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from recoverable_local.lambda_host.sam.resources.mappings import source_name
from recoverable_local.lambda_host.sam.resources.plain import Trigger
from recoverable_local.lambda_host.sam.resources.schedules import async_retries, is_enabled, is_rate
from recoverable_operate.templates import Properties, TemplateError


@dataclass(frozen=True, slots=True)
class Events:
    """The properties of a function's enabled events by type, and notes on the events that the local host does not serve."""

    queues: tuple[Properties, ...]
    schedules: tuple[Properties, ...]
    notes: tuple[str, ...]


def events_of(function: Properties, plain: Iterable[Trigger] = ()) -> Events:
    """Sort the events of a function by type, and write notes on those that are not served.

    Args:
        function: The function's properties.
        plain: What invokes it and is a resource of its own.
    """
    found: dict[str, list[Properties]] = {"SQS": [], "Schedule": [], "ScheduleV2": []}
    notes: list[str] = []
    for kind, event in [*_own(function), *((each.kind, each.event) for each in plain)]:
        if note := _left_out(kind, event):
            notes.append(note)
        else:
            found[kind].append(event)
    schedules = (*found["Schedule"], *found["ScheduleV2"])
    if schedules and (times := async_retries(function)):
        notes.append(
            f"{function.where}: when its schedule's invocation fails, Lambda runs it again up to {times} times; this host does not"
        )
    return Events(tuple(found["SQS"]), schedules, tuple(notes))


def _own(function: Properties) -> Iterator[tuple[str, Properties]]:
    for name, event in function.part("Events").values.items():
        if not isinstance(event, dict) or not isinstance(event.get("Properties") or {}, dict):
            raise TemplateError(
                f"{function.where}.Events.{name} is {event!r:.80}; write a mapping with Type and Properties."
            )
        kind = str(event.get("Type"))
        properties = Properties(f"{function.where}.{name}", event.get("Properties") or {}, function.scope)
        if kind == "ScheduleV2":  # so that its errors name the property that it has
            properties = replace(properties, values={"ScheduleExpression": None, **properties.values})
        yield kind, properties


def _left_out(kind: str, event: Properties) -> str | None:
    """Return a note that says why an event is not served; None if it is served."""
    match kind:
        case "SQS":
            return _unread(event)
        case "Schedule" | "ScheduleV2" if not is_enabled(event):
            return f"{event.where} is not Enabled, so nothing here invokes its function"
        case "Schedule" | "ScheduleV2" if not is_rate(event):
            return f"{event.where} is a schedule by cron or at, which this host does not support; write a rate"
        case "Schedule" | "ScheduleV2":
            return None
        case _:
            return f"{event.where} is an event of Type {kind}, which this host does not send"


def _unread(event: Properties) -> str | None:
    """Return a note that says why nothing reads a mapping's queue; None if it is read."""
    if not event.flag("Enabled", default=True):
        return f"{event.where} is not Enabled, so nothing here reads its queue"
    if event.values.get("Queue") is None:
        return None  # refused where the mapping is parsed
    try:
        source_name(event)
    except TemplateError as error:
        return f"nothing here reads the queue of {event.where}: {error}"
    return None
