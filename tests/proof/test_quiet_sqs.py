"""A quiet time changes nothing: what a message goes through is the same whether its connections ended meanwhile or not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from proof.catalogue import NAMED
from proof.promises import broken
from proof.replaying import replay
from proof.sqs.scenarios import Scenario
from recoverable import Delayed
from recoverable_local.testing.aws.api.sqs_client import OPERATIONS

SECONDS = (10, 21, 59, 61, 130, 400, 900, 4_000)
"""Quiet times: shorter and longer than the gateway keeps a connection, than SQS, than NAT gateways, and than one copy waits."""

PATHS = (
    "quiet hours", "one message", "batch", "plain records", "header counter", "in process", "coroutines", "FIFO group", "killer last",
    "no partial responses", "managed instances", "sending", "sending to a FIFO queue", "sending from FIFO to FIFO",
)  # fmt: skip


def scenario_of(name: str, quiet: float = 10.0) -> Scenario:
    """Return a scenario in one process, with so many seconds before each delayed retry."""
    found = NAMED[name]
    assert isinstance(found, Scenario)
    ladder = found.recoverability
    delayed = Delayed(ladder.delayed.max_retries, timedelta(seconds=quiet))
    return replace(
        found, recoverability=ladder.__replace__(delayed=delayed), mapping={**found.mapping, "concurrency": 1}
    )


def story(scenario: Scenario, fault: str = "", at: str = "") -> list[str]:
    """Return what happened; a call that failed only where nobody injected it."""
    found = [str(event) for event in replay(scenario, {at: fault} if fault else {}).timeline]
    return without_failed_calls(found) if fault else found


def without_failed_calls(events: list[str]) -> list[str]:
    """Return the events but for calls that failed."""
    return [event for event in events if "call failed" not in event]


@pytest.mark.parametrize("quiet", SECONDS)
@pytest.mark.parametrize("name", PATHS)
def test_a_connection_that_was_forgotten_meanwhile_changes_nothing(
    name: str, quiet: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = story(scenario_of(name, quiet))

    monkeypatch.setattr("recoverable_local.testing.aws.world.FORGOTTEN_AFTER", inf)
    assert found == story(scenario_of(name, quiet))


KEEPS_IDLE_CONNECTIONS, LOSES_A_RESET = ("IDLE", inf), ("was_reset", lambda _error: False)


@pytest.mark.parametrize("mistakes", [[KEEPS_IDLE_CONNECTIONS], [KEEPS_IDLE_CONNECTIONS, LOSES_A_RESET]], ids=len)
def test_a_client_that_keeps_idle_connections_is_found(
    mistakes: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = story(scenario_of("quiet hours", 61))

    for of, by in mistakes:
        monkeypatch.setattr(f"recoverable._sqs.clients.{of}", by)
    found = story(scenario_of("quiet hours", 61))

    assert any("ConnectionReset(done=False)" in event for event in found)
    assert (without_failed_calls(found) == undisturbed) is (LOSES_A_RESET not in mistakes)


def calls_of(scenario: Scenario) -> list[str]:
    """Return the places of the calls to SQS."""
    visits = replay(scenario, {}).visits
    return [visit.where for visit in visits if visit.point.when == "before" and visit.point.what in OPERATIONS]


@pytest.mark.parametrize("name", [name for name in PATHS if "kill" not in name])  # each new process connects anew
def test_a_reset_of_a_connection_that_had_carried_a_call_changes_nothing(name: str) -> None:
    scenario = scenario_of(name)
    later, undisturbed = calls_of(scenario)[1:], story(scenario)

    assert later
    assert {at: story(scenario, "reset", at) for at in later} == dict.fromkeys(later, undisturbed)


@pytest.mark.parametrize("name", ["one message", "sending"])
def test_a_reset_of_a_new_connection_is_a_lost_answer(name: str) -> None:
    scenario = scenario_of(name)
    first = calls_of(scenario)[0]

    assert story(scenario, "reset after it was done", first) == story(scenario, "answer lost", first)


def test_a_send_that_was_done_before_the_reset_is_repeated_under_the_same_id() -> None:
    outcome = replay(NAMED["FIFO error queue"], {"before send_message_batch 1": "reset after it was done"})

    assert broken(outcome) == []
    assert [seen.id for seen in outcome.errors] == ["m1", "m2"]
