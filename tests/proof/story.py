"""What a reader gets of a schedule that broke a promise: the smallest one that does, what happened, and how to see it again."""

from __future__ import annotations

from proof.promises import broken
from proof.replaying import Scenario, Schedule, replay


def smallest(scenario: Scenario, schedule: Schedule) -> Schedule:
    """The schedule without the faults that it does not need to break a promise."""
    for place in schedule:
        shorter = {other: wrong for other, wrong in schedule.items() if other != place}
        if broken(replay(scenario, shorter)):
            return smallest(scenario, shorter)
    return schedule


def story(scenario: Scenario, schedule: Schedule) -> str:
    """The scenario, what went wrong, what came of it, and the line that shows it again."""
    outcome = replay(scenario, schedule)
    lines = [
        f"Scenario: {scenario.name}",
        *(f"  m{number} {body:.60}" for number, body in enumerate(scenario.bodies, 1)),
        *(f"Fault: {wrong}, {place}" for place, wrong in schedule.items()),
        *(f"Broken: {problem}" for problem in broken(outcome)),
        str(outcome.timeline),
        f"Again: print(story(NAMED[{scenario.name!r}], {dict(schedule)!r}))",
    ]
    return "\n".join(lines)
