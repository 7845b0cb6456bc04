"""Keep what the searches have found, each by name and by the smallest case that shows it."""

from __future__ import annotations

import json

import pytest

from proof.catalogue import NAMED
from proof.hostile import Reader, retried
from proof.ladders import ladder
from proof.promises import broken
from proof.replaying import replay
from proof.service_bus.scenarios import Scenario
from proof.sqs.hostile import SQS
from recoverable._sqs.wire import HEADERS
from recoverable.headers import FOLDED


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
    ],
)
def test_what_once_looked_broken_on_service_bus_is_not(scenario: str, schedule: dict[str, str]) -> None:
    assert broken(replay(NAMED[scenario], schedule)) == []
