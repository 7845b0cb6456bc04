"""Test a host with a schedule and a table: the function's event, the outcomes, and what remains after the stop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.processes import is_alive
from local.lambda_host.running_lambda import RunningLambda
from local.lambda_host.templates import FUNCTIONS, written
from recoverable_local.lambda_host import (
    Died,
    Ended,
    Entry,
    Expired,
    Invoked,
    LocalAws,
    Outcome,
    Raised,
    Returned,
    Started,
    Throttled,
)
from recoverable_local.lambda_host.services.clients import session
from recoverable_local.lambda_host.services.dynamodb import DynamoDb

pytestmark = pytest.mark.slow

SECOND = timedelta(seconds=1)


def template(*, reserved: int = 2, **properties: Any) -> dict[str, Any]:
    """Build a template with a table and a function that writes its schedule's events into it, with this concurrency limit."""
    event = {"Type": "Schedule", "Properties": {"Schedule": "rate(1 minute)", **properties}}
    function = {
        "CodeUri": str(FUNCTIONS),
        "Handler": "scheduled.handler",
        "Runtime": "python3.11",
        "Timeout": 60,
        "ReservedConcurrentExecutions": reserved,
        "Environment": {"Variables": {"EVENTS_TABLE": {"Ref": "Events"}}},
        "Events": {"EachMinute": event},
    }
    return {
        "Resources": {
            "Clock": {"Type": "AWS::Serverless::Function", "Properties": function},
            "Events": {"Type": "AWS::DynamoDB::Table", "Properties": keyed_by("id")},
        }
    }


def keyed_by(name: str) -> dict[str, Any]:
    """Return the properties of a table with one key."""
    return {
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": name, "KeyType": "HASH"}],
    }


@contextmanager
def running_schedule(
    folder: Path, endpoint_url: str | None, stack_name: str, **properties: Any
) -> Iterator[RunningLambda]:
    """Start a host whose schedules run each second."""
    seen: list[Entry] = []
    settings = {"endpoint_url": endpoint_url, "stack_name": stack_name, "schedule_interval": SECOND}
    path = written(folder, template(**properties))
    with LocalAws.from_template(path, observe=seen.append, **settings) as host:
        yield RunningLambda(host, seen)


def events(endpoint_url: str, stack_name: str) -> dict[str, Any]:
    """Return the table's items, by the invocations' ids."""
    client = session("us-east-1").client("dynamodb", endpoint_url=endpoint_url)
    items = client.scan(TableName=f"{stack_name}-Events", ConsistentRead=True)["Items"]
    return {item["id"]["S"]: json.loads(item["event"]["S"]) for item in items}


def test_a_schedule_invokes_its_function_again_and_again_on_one_instance(
    tmp_path: Path, broker: str, stack_name: str
) -> None:
    with running_schedule(tmp_path, broker, stack_name) as running:
        ended = running.ended(2)

    told = events(broker, stack_name)
    assert [(entry.outcome, entry.completed, entry.failed, entry.reason) for entry in ended] == [
        (Returned("null"), (), (), None)
    ] * 2
    assert len(running.all(Started)) == 1
    assert [told[entry.request_id]["detail-type"] for entry in ended] == ["Scheduled Event"] * 2


@pytest.mark.parametrize(
    ("do", "outcome", "reason"),
    [
        ("raise", Raised("ValueError", "no such schedule"), "ValueError: no such schedule"),
        ("crash", Died(4), "Runtime.ExitError: the process ended by itself with exit status 4"),
    ],
)
def test_a_schedule_goes_on_when_an_invocation_fails(
    tmp_path: Path, broker: str, stack_name: str, do: str, outcome: Outcome, reason: str
) -> None:
    with running_schedule(tmp_path, broker, stack_name, Input=json.dumps({"do": do})) as running:
        ended = running.ended(2)

    assert [(entry.outcome, entry.reason) for entry in ended] == [(outcome, reason)] * 2


def test_the_tables_of_an_embedded_broker_go_with_it(tmp_path: Path, broker: str, stack_name: str) -> None:
    with running_schedule(tmp_path, None, stack_name) as running:
        running.ended(1)
        there = len(events(running.host.endpoint_url, stack_name))

    client = session("us-east-1").client("dynamodb", endpoint_url=broker)  # for what moto keeps is the process's
    left = [name for name in client.list_tables()["TableNames"] if name.startswith(stack_name)]
    assert (there >= 1, left) == (True, [])


def test_a_table_that_is_there_keeps_what_it_holds(tmp_path: Path, broker: str, stack_name: str) -> None:
    for _ in range(2):
        with running_schedule(tmp_path, broker, stack_name) as running:
            running.ended(1)

    assert len(events(broker, stack_name)) >= 2


def test_a_table_that_is_there_with_other_keys_is_refused(tmp_path: Path, broker: str, stack_name: str) -> None:
    DynamoDb(broker, region="us-east-1").create(f"{stack_name}-Events", keyed_by("name"))

    said = rf"The table '{stack_name}-Events' exists already with the keys .*'name'.* the template has .*'id'"
    with pytest.raises(ValueError, match=said), running_schedule(tmp_path, broker, stack_name):
        pass


def test_leaving_ends_an_invocation_that_runs(tmp_path: Path, broker: str, stack_name: str) -> None:
    with running_schedule(tmp_path, broker, stack_name, Input='{"do": "sleep"}') as running:
        running.until(lambda: running.all(Invoked))

    (invoked,) = running.all(Invoked)
    assert (is_alive(invoked.pid), running.all(Ended)) == (False, [])


def test_an_invocation_for_which_no_instance_is_free_is_left_out_and_the_next_is_tried(
    tmp_path: Path, broker: str, stack_name: str
) -> None:
    with running_schedule(tmp_path, broker, stack_name, reserved=0) as running:
        running.until(lambda: len(running.all(Expired)) >= 2)

    assert running.entries[:4] == [Throttled("Clock", ()), Expired("Clock", ())] * 2
