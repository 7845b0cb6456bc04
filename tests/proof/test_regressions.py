"""Keep what the searches have found, each by name and by the smallest case that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from proof.catalogue import NAMED
from proof.fault_names import WRONG_CLOCKS
from proof.hostile import Reader, retried
from proof.ladders import ladder
from proof.promises import broken
from proof.prove import ALL
from proof.replaying import replay
from proof.service_bus.scenarios import Scenario
from proof.sqs import catalogue as sqs
from proof.sqs.hostile import SQS
from recoverable._sqs.wire import HEADERS
from recoverable.headers import FOLDED
from recoverable_local.testing import Fault, Refused
from recoverable_local.testing.engine.fault_plan import FaultPoint


@pytest.mark.parametrize(
    "folded",
    [
        {"a b": {"dataType": "String", "stringValue": "x"}},
        {"AWS.x": {"dataType": "String", "stringValue": "x"}},
        {"x..y": {"dataType": "String", "stringValue": "x"}},
        {"x": {"dataType": "String", "stringValue": "\0"}},
        {"x": {"dataType": "String", "stringValue": "\ud800"}},
        {"x": {"dataType": "Number", "stringValue": "many"}},
        {"x": {"dataType": "String.\ud800", "stringValue": "x"}},
        {HEADERS: {"dataType": "String", "stringValue": "{}"}},
    ],
    ids=ascii,
)
def test_a_header_that_passes_itself_off_as_attributes_stops_no_copy(folded: object) -> None:
    attributes = {HEADERS: json.dumps({FOLDED: json.dumps(folded)})}
    reader = Reader([ValueError], SQS.read)

    world, _ = retried(SQS, [{"body": "x", "attributes": attributes}], reader, ladder(1, 1), {})

    assert reader.attempts == [(1, 0), (2, 0), (1, 1), (2, 1)]
    assert [(seen.exception_type, seen.headers[FOLDED]) for seen in world.queue("errors")] == [
        ("ValueError", json.dumps(folded))
    ]


def test_a_message_that_was_visible_twice_is_dead_lettered_once() -> None:
    outcome = replay(NAMED["too large to copy"], {"before invoke 5": "expired"})

    assert broken(outcome) == []
    assert [seen.queue for seen in outcome.errors] == ["errors"]


LAST_SENDS = 14
"""Four sends at each of three deliveries, and at the last one two more to the message's own queue, as long as an invocation pauses."""


@pytest.mark.parametrize(
    ("failed_sends", "reason"),
    [(0, "recoverable.UnreportedFailure"), (LAST_SENDS - 1, "recoverable.UnreportedFailure"), (LAST_SENDS, None)],
)
def test_a_killer_is_given_up_with_its_reason_unless_all_sends_fail_at_three_deliveries(
    failed_sends: int, reason: str | None
) -> None:
    throttled = {f"before send_message_batch {nth}": "throttled" for nth in range(1, failed_sends + 1)}
    outcome = replay(NAMED["killer alone"], throttled)

    assert broken(outcome) == []
    assert [(seen.queue, seen.exception_type) for seen in outcome.errors] == [("errors", reason)]


def test_on_functions_a_killer_takes_what_is_always_in_flight_beside_it_along() -> None:
    beside = Scenario(name="beside", bodies=("works", "kills"), recoverability=ladder(1, 0), apart=False)
    outcome = replay(beside, {})
    assert broken(outcome) == []
    assert {(seen.id, seen.exception_type) for seen in outcome.errors} == {
        ("m1", "recoverable.UnreportedFailure"),
        ("m2", "recoverable.UnreportedFailure"),
    }


@pytest.mark.parametrize(
    ("scenario", "schedule"),
    [
        ("bus: one message", {"before invoke 1": "lock lost"}),
        ("bus: sessions", {"before settle 4": "lock lost"}),
        ("bus: session and killer", {"before attempt 1": "machine lost", "before settle 8": "unreachable"}),
        ("bus: coroutines", {"before attempt 3": "timed out"}),
        # its second delivery ends with the host that holds it beside another's invocation
        ("bus: one chance", {"after invoke 1": "died", "before send_messages 1": "connection cut", "before attempt 4": "machine lost"}),
    ],
)  # fmt: skip
def test_what_once_looked_broken_on_service_bus_is_not(scenario: str, schedule: dict[str, str]) -> None:
    assert broken(replay(ALL[scenario], schedule)) == []


BATCHING = next(each for each in sqs.OVERLAPPING if each.name == "batching window")
DENIED = Refused("AccessDenied")


@pytest.mark.parametrize("nth", range(1, 5))
def test_one_change_of_visibility_that_is_denied_multiplies_no_message_where_deliveries_overlap(nth: int) -> None:
    assert broken(replay(BATCHING, {f"before change_message_visibility_batch {nth}": "refused"})) == []


@pytest.mark.parametrize(("immediate", "delayed"), [(0, 3), (1, 1), (5, 3)])
def test_nor_does_a_role_that_may_not_change_it(immediate: int, delayed: int) -> None:
    def denied(point: FaultPoint, _: float) -> Fault | None:
        return DENIED if (point.when, point.what) == ("before", "change_message_visibility_batch") else None

    outcome = replay(replace(BATCHING, recoverability=ladder(immediate, delayed), outage=denied), {})

    assert [(seen.id, seen.exception_type is None) for seen in outcome.errors] == [("m1", False)]


JUMPS = ("several instances", "coroutines, header counter", "custom policy")
"""Scenarios in which a clock that jumped, and one question to SQS without an answer, cost a handler two runs or three."""


@pytest.mark.parametrize(
    ("scenario", "schedule"),
    [
        ("several instances", {"after change_message_visibility_batch 1": "clock late", "before get_queue_attributes 2": "exception"}),
        ("coroutines, header counter", {"after attempt 2": "clock late", "before get_queue_attributes 2": "answer lost"}),
        ("custom policy", {"after invoke 1": "clock early", "before attempt 4": "clock late", "before get_queue_attributes 3": "reset"}),
        ("custom policy", {"before attempt 4": "clock late", "before get_queue_attributes 2": "reset"}),
    ],
)  # fmt: skip
def test_a_clock_that_jumps_costs_no_run_where_sqs_does_not_answer_either(
    scenario: str, schedule: dict[str, str]
) -> None:
    assert broken(replay(ALL[scenario], schedule)) == []


@pytest.mark.slow
@pytest.mark.parametrize("scenario", JUMPS)
def test_a_clock_that_jumps_at_any_step_costs_no_run_with_one_question_unanswered(scenario: str) -> None:
    assert list(jumps_and_refusals(ALL[scenario])) == []


def jumps_and_refusals(scenario: Any) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Yield what breaks a promise of one jump at each attempt and invocation, and one question to SQS after it that fails."""
    steps = [visit.where for visit in replay(scenario, {}).visits if visit.point.what in ("attempt", "invoke")]
    for step, clock in product(steps, WRONG_CLOCKS):
        visited = [visit.where for visit in replay(scenario, {step: clock}).visits]
        asked = [where for where in visited[visited.index(step) :] if where.startswith("before get_queue_attributes")]
        for where, problem in product(asked, ("exception", "answer lost", "refused")):
            schedule = {step: clock, where: problem}
            if problems := broken(replay(scenario, schedule)):
                yield schedule, problems
