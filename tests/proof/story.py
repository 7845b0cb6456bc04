"""Describe a schedule that broke a promise: the smallest one that does, what happened, and how to replay it."""

from __future__ import annotations

from proof.promises import broken
from proof.replaying import Scenario, Schedule, replay


def smallest(scenario: Scenario, schedule: Schedule) -> Schedule:
    """Return the schedule without the faults that are not needed to break a promise."""
    for where in schedule:
        shorter = {other: fault_name for other, fault_name in schedule.items() if other != where}
        if broken(replay(scenario, shorter)):
            return smallest(scenario, shorter)
    return schedule


def story(scenario: Scenario, schedule: Schedule) -> str:
    """Return the scenario, its faults, the broken promises, the timeline, and the line that replays it."""
    outcome = replay(scenario, schedule)
    lines = [
        f"Scenario: {scenario.name}",
        *(f"  m{number} {body:.60}" for number, body in enumerate(scenario.bodies, 1)),
        *(f"Fault: {fault_name}, {where}" for where, fault_name in schedule.items()),
        *(f"Broken: {problem}" for problem in broken(outcome)),
        str(outcome.timeline),
        f"Again: print(story(NAMED[{scenario.name!r}], {dict(schedule)!r}))",
    ]
    return "\n".join(lines)
