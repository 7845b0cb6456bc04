"""What template.yaml makes of a rate limit and a pause: the table, the probe, and the environment of both functions."""

from __future__ import annotations

from functools import cache
from runpy import run_path
from typing import Any

import pytest

from infra.decided import decided
from infra.features import asking_for
from infra.sam_template import ROOT, Parameters, Template, template, transformed
from recoverable import RateLimit
from recoverable.circuits import DynamoDbCircuit, Probe
from shop import BankUnreachable, CardDeclined

SAM = template()
LIMITED, PAUSED = "a rate limit", "a paused trigger"
PLACE = {"Fn::GetAtt": "arn:aws:sqs:eu-central-1:123456789012:shop-orders", "Ref": "resource"}
"""What stands here for what CloudFormation knows once the resources are there."""


@cache
def resources(*features: str) -> Template:
    """Return the resources with these features, as the transform leaves them."""
    found: Template = transformed(decided(SAM, asking_for(*features)))["Resources"]
    return found


def properties(resource: str, *features: str) -> Template:
    """Return a resource's properties with these features."""
    found: Template = resources(*features)[resource]["Properties"]
    return found


def started(function: str, monkeypatch: pytest.MonkeyPatch, *features: str) -> Any:
    """Return the handler of a function that is started with the environment that the template gives it."""
    found = properties(function, *features)
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", function)
    for name, value in found["Environment"]["Variables"].items():
        monkeypatch.setenv(name, PLACE[next(iter(value))] if isinstance(value, dict) else str(value))
    module = found["Handler"].removesuffix(".handler")
    return run_path(str(ROOT / "functions" / "aws" / f"{module}.py"))["handler"]


def limit_of(handler: Any) -> RateLimit:
    """Return an endpoint's rate limit."""
    found: RateLimit = handler.recoverability.rate_limit
    return found


def test_without_a_limit_nothing_of_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {resource["Type"] for resource in resources().values()}

    assert kinds & {"AWS::DynamoDB::Table", "AWS::Logs::MetricFilter", "AWS::Events::Rule"} == set()
    assert started("OrdersFunction", monkeypatch).recoverability.rate_limit is None


def test_the_table_is_keyed_by_the_circuit_and_paid_for_by_the_call() -> None:
    assert properties("CircuitTable", LIMITED) == {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "circuit", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "circuit", "KeyType": "HASH"}],
    }


def test_the_function_shares_its_limit_by_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = limit_of(started("OrdersFunction", monkeypatch, LIMITED))

    store = limit.store
    assert isinstance(store, DynamoDbCircuit)
    assert (limit.consecutive_failures, limit.on_started, store.table, store.name) == (20, None, "resource", "orders")


def test_a_card_that_is_declined_says_nothing_about_the_bank(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = limit_of(started("OrdersFunction", monkeypatch, LIMITED)).counts

    assert counts is not None
    assert (counts(BankUnreachable()), counts(CardDeclined())) == (True, False)


def test_the_function_pauses_its_own_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = limit_of(started("OrdersFunction", monkeypatch, PAUSED))

    assert (paused_by(limit.on_started), paused_by(limit.on_ended)) == ("OrdersFunction", "OrdersFunction")


def paused_by(callback: Any) -> str:
    """Return the function whose trigger a callback pauses or lets run."""
    name: list[str] = callback.__self__.store._function
    return ":".join(name)


def test_the_probe_takes_messages_of_the_functions_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(started("ProbeFunction", monkeypatch, PAUSED), Probe)


def test_the_probe_has_the_environment_of_the_function_and_knows_its_name() -> None:
    probe, orders = (
        properties(name, PAUSED)["Environment"]["Variables"] for name in ("ProbeFunction", "OrdersFunction")
    )

    assert probe == {**orders, "ORDERS_FUNCTION": {"Ref": "OrdersFunction"}}


def test_the_probe_is_as_the_function_that_it_stands_in_for() -> None:
    probe, orders = (properties(name, PAUSED) for name in ("ProbeFunction", "OrdersFunction"))
    alike = ("Runtime", "Architectures", "MemorySize", "Timeout", "Layers", "Code")

    assert {name: probe[name] for name in alike} == {name: orders[name] for name in alike}


def test_the_probe_comes_each_minute_and_a_failure_waits_for_the_next() -> None:
    (rule,) = (found for found in resources(PAUSED).values() if found["Type"] == "AWS::Events::Rule")
    (again,) = (found for found in resources(PAUSED).values() if found["Type"] == "AWS::Lambda::EventInvokeConfig")

    schedule, target = rule["Properties"]["ScheduleExpression"], rule["Properties"]["Targets"][0]["Arn"]
    assert (schedule, target) == ("rate(1 minute)", {"Fn::GetAtt": ["ProbeFunction", "Arn"]})
    assert again["Properties"]["MaximumRetryAttempts"] == 0


def test_a_deployment_ends_a_pause_only_when_it_takes_the_probe_away() -> None:
    enabled = [properties("OrdersFunctionOrders", *given).get("Enabled") for given in ((), (LIMITED,), (PAUSED,))]

    assert enabled == [True, True, None]


def test_a_pause_without_a_limit_is_refused() -> None:
    alone: Parameters = {"PauseTrigger": "true"}

    with pytest.raises(AssertionError, match="give RateLimitAfter too"):
        decided(SAM, alone)
