"""Parse each function with what invokes it, or note why this host does not run it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from recoverable_local.lambda_host.sam.resources.events import events_of
from recoverable_local.lambda_host.sam.resources.functions import parse_function, why_not_run
from recoverable_local.lambda_host.sam.resources.mappings import parse_mapping
from recoverable_local.lambda_host.sam.resources.plain import Trigger
from recoverable_local.lambda_host.sam.resources.schedules import parse_schedule
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Queue, Schedule
from recoverable_operate.templates import Properties, TemplateError


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function that the host may run, with what invokes it and is a resource of its own."""

    properties: Properties
    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Running:
    """One function with its triggers; None if it is not run.

    Args:
        function: The function.
        mappings: The mappings that invoke it.
        schedules: The schedules that invoke it.
        notes: What is left out.
        not_run: Why this host cannot run it, though it has triggers that are served here; else None.
    """

    function: Function | None
    mappings: tuple[EventSourceMapping, ...]
    schedules: tuple[Schedule, ...]
    notes: tuple[str, ...]
    not_run: str | None = None


def parse_running(
    candidate: Candidate, *, root: Path, environment: Mapping[str, str], queues: tuple[Queue, ...]
) -> Running:
    """Parse a function and its triggers.

    Args:
        candidate: The function.
        root: The template's folder.
        environment: Variables for every function, over those of the template.
        queues: All queues, those that stand in for queues outside the template included.

    Raises:
        TemplateError: AWS would refuse it, or the host would run it otherwise than AWS.
    """
    events = events_of(candidate.properties, candidate.triggers)
    if not events.queues and not events.schedules:
        return Running(None, (), (), events.notes)
    if reason := why_not_run(candidate.properties):
        return Running(None, (), (), (*events.notes, reason), not_run=reason)
    function, left_out = parse_function(candidate.properties, root=root, environment=environment)
    mappings = tuple(parse_mapping(event, function=function, queues=queues) for event in events.queues)
    schedules = tuple(parse_schedule(event, function=function) for event in events.schedules)
    return Running(function, mappings, schedules, (*events.notes, *left_out))


def refuse_nothing_to_run(found: Iterable[Running]) -> None:
    """Raise a TemplateError if functions have triggers that are served here, but none of these functions can be run."""
    reasons = [one.not_run for one in found if one.not_run is not None]
    if reasons and not any(one.function for one in found):
        raise TemplateError(f"None of the functions can be run: {'; '.join(reasons)}.")
