"""The rate limit of main.bicep: off as it stands, and when it is asked for, shared by all instances, with an alert."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from runpy import run_path
from typing import Any

import pytest

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message
from builders import Boom, recoverability
from infra.azure.bicep import ROOT, Deployment
from infra.azure.durations import iso
from recoverable import RateLimit
from recoverable.circuits import TableCircuit
from shop import BankUnreachable, CardDeclined

LIMITED = Deployment({"rateLimitAfter": 50, "actionGroupId": "/the/group"})
ALERT = LIMITED.properties("rateLimitedAlert")
[CRITERION] = ALERT["criteria"]["allOf"]
DOWN = Boom("the bank does not answer")


def limit_under(deployed: Deployment, monkeypatch: pytest.MonkeyPatch) -> RateLimit | None:
    """Return the example's rate limit under the deployment's app settings."""
    for name, setting in deployed.properties("settings").items():
        monkeypatch.setenv(name, setting)
    example: Any = run_path(str(ROOT / "functions" / "azure" / "orders_endpoint.py"))["orders"]
    found: RateLimit | None = example.recoverability.rate_limit
    return found


def test_without_a_limit_nothing_of_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    added = LIMITED.resources.keys() - Deployment().resources.keys()

    assert added == {"tables", "circuits", "mayUseCircuits", "rateLimitedAlert"}
    assert limit_under(Deployment(), monkeypatch) is None


def test_the_instances_share_the_limit_by_the_table_of_the_apps_own_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = limit_under(LIMITED, monkeypatch)

    assert limit is not None
    assert isinstance(limit.store, TableCircuit)
    assert (limit.consecutive_failures, limit.store.table) == (50, LIMITED.config("circuits")["name"])
    assert (LIMITED.config("circuits")["parent"], LIMITED.config("tables")["parent"]) == ("tables", "storage")


def test_a_card_that_is_declined_says_nothing_about_the_bank(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = limit_under(LIMITED, monkeypatch)
    assert limit is not None
    assert limit.counts is not None
    assert (limit.counts(CardDeclined("no")), limit.counts(BankUnreachable("?"))) == (False, True)


def counts(line: str) -> bool:
    """True if the alert's query counts a line of the log."""
    [begins] = re.findall(r'startswith "([^"]+)"', CRITERION["query"])
    [has] = re.findall(r'has "([^"]+)"', CRITERION["query"])
    return line.startswith(begins) and has in line


def test_the_alert_counts_what_the_function_writes_when_an_order_waits(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    settings = recoverability().__replace__(rate_limit=RateLimit(1))

    async def fail(_message: object) -> None:
        raise DOWN

    assert ended(endpoint(fail, settings, client=RecordingClient()), trigger_message()) is None
    assert [counts(line) for line in caplog.messages] == [False, True]


@pytest.mark.parametrize("minutes", LIMITED.bounds("rateLimitedAlertMinutes"))
def test_the_alert_waits_for_as_many_minutes_as_the_parameter_says(minutes: int) -> None:
    alert = Deployment({"rateLimitAfter": 1, "rateLimitedAlertMinutes": minutes}).properties("rateLimitedAlert")
    [criterion] = alert["criteria"]["allOf"]
    periods = criterion["failingPeriods"]

    assert iso(alert["windowSize"]) * periods["minFailingPeriodsToAlert"] == timedelta(minutes=minutes)
    assert periods["minFailingPeriodsToAlert"] == periods["numberOfEvaluationPeriods"] <= 6
    assert alert["evaluationFrequency"] == alert["windowSize"]


def test_the_alert_looks_at_the_apps_log_and_reaches_the_action_group() -> None:
    unheard = Deployment({"rateLimitAfter": 50}).properties("rateLimitedAlert")["actions"]

    assert (ALERT["scopes"], ALERT["enabled"]) == (["<insights.id>"], True)
    assert (ALERT["actions"], unheard) == ({"actionGroups": ["/the/group"]}, {"actionGroups": []})
