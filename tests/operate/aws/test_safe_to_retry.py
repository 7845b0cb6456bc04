"""Is it safe to send back now? What the queues hold where messages failed, and a circuit that is open."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from operate.aws.failing import send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from operate.places import Machine, machine, place
from recoverable._rate_limit.state import CLOSED, Circuit, Open
from recoverable.circuits import DynamoDbCircuit
from recoverable_operate.errors import OperateError
from recoverable_operate.errors._aws.attributes import age_of_oldest, read_backlog
from recoverable_operate.errors._queue import Backlog
from servers.moto import session
from servers.queues import Queue

__all__ = ["machine"]

DONE, REFUSED = 0, 2
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def failed_at(queue: Queue, **more: str | None) -> dict[str, str]:
    """Return fault headers of a message that failed at a queue."""
    return fault_headers(queue.name, **{"Recoverable.FailedQueue": queue.arn, **more})


def test_groups_shows_what_the_queue_holds_where_messages_failed(errors: Errors, orders: Queue, error: Queue) -> None:
    send_failed(error, headers=failed_at(orders))
    for number in range(3):
        orders.send(str(number))
    orders.send("later", DelaySeconds=900)
    orders.client.receive_message(QueueUrl=orders.url)

    ran = errors("groups", "--queue", error.name)

    *_, heading, row = [line.split() for line in ran.out.splitlines()]
    assert (heading, row) == (
        ["waiting", "in", "flight", "later", "oldest", "queue", "where", "messages", "failed"],
        ["2", "1", "1", "–", orders.name],
    )


def test_json_has_it_with_the_group(errors: Errors, orders: Queue, error: Queue) -> None:
    send_failed(error, headers=failed_at(orders))

    [row] = map(json.loads, errors("groups", "--queue", error.name, "--json").out.splitlines())

    holds = {"waiting": 0, "inFlight": 0, "later": 0, "oldestSeconds": None, "more": False}
    assert (row["messages"], row["backlogs"]) == (1, {orders.arn: holds})


@pytest.mark.parametrize("named", ["arn:aws:sqs:eu-west-1:123456789012:secret", "no queue\n at all"])
def test_a_queue_that_a_header_alone_names_is_not_asked_about(errors: Errors, error: Queue, named: str) -> None:
    send_failed(error, headers=fault_headers(**{"Recoverable.FailedQueue": named}))

    [row] = map(json.loads, errors("groups", "--queue", error.name, "--json").out.splitlines())

    assert row["backlogs"] == {}


def test_a_queue_that_cannot_be_asked_is_named_with_the_reason(
    errors: Errors, orders: Queue, error: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_failed(error, headers=failed_at(orders))
    monkeypatch.setattr("recoverable_operate.errors._aws.client.read_sources", lambda *_: [f"{orders.arn}-gone"])

    ran = errors("groups", "--queue", error.name)

    assert (ran.status, f"{orders.name}-gone: there is no queue" in " ".join(ran.out.split())) == (DONE, True)


def test_without_the_right_to_list_sources_the_groups_are_shown_all_the_same(
    errors: Errors, orders: Queue, error: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> list[str]:
        raise OperateError("sqs:ListDeadLetterSourceQueues is missing")

    send_failed(error, headers=failed_at(orders))
    monkeypatch.setattr("recoverable_operate.errors._aws.client.read_sources", denied)

    ran = errors("groups", "--queue", error.name, "--json")

    [row] = map(json.loads, ran.out.splitlines())
    assert (ran.status, row["messages"], row["backlogs"]) == (DONE, 1, {})


class Metrics:
    """A CloudWatch that has these ages, or refuses."""

    def __init__(self, *ages: int, refuses: bool = False) -> None:
        self._ages, self._refuses = ages, refuses
        self.asked: list[dict[str, Any]] = []

    def get_metric_statistics(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        if self._refuses:
            raise PermissionError("no")
        return {
            "Datapoints": [
                {"Timestamp": NOON - timedelta(minutes=n), "Maximum": age} for n, age in enumerate(self._ages)
            ]
        }


def test_the_age_of_the_oldest_is_the_last_that_cloudwatch_has(orders: Queue) -> None:
    metrics = Metrics(120, 60)

    assert age_of_oldest(metrics, orders.name, NOON) == timedelta(seconds=120)
    assert [(each["Dimensions"], each["MetricName"]) for each in metrics.asked] == [
        ([{"Name": "QueueName", "Value": orders.name}], "ApproximateAgeOfOldestMessage")
    ]


@pytest.mark.parametrize("metrics", [None, Metrics(), Metrics(refuses=True)], ids=["not asked", "none", "refused"])
def test_an_age_that_is_not_known_hides_nothing_else(orders: Queue, metrics: Metrics | None) -> None:
    orders.send("one")

    assert read_backlog(orders.client, metrics, orders.arn, NOON) == Backlog(1, 0, 0, None)


@pytest.fixture
def circuit(sqs: str, monkeypatch: pytest.MonkeyPatch) -> DynamoDbCircuit:
    """Return the circuit `orders` in a new table."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", sqs)
    client = session().client("dynamodb", endpoint_url=sqs)
    client.delete_table(TableName="circuits") if "circuits" in client.list_tables()["TableNames"] else None
    client.create_table(
        TableName="circuits",
        KeySchema=[{"AttributeName": "circuit", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "circuit", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return DynamoDbCircuit("circuits", "orders", client=client)


def switch(circuit: DynamoDbCircuit, to: Circuit) -> None:
    """Open or close the circuit."""
    assert circuit.compare_and_set(circuit.read(), to, "s")


OPEN = "The circuit circuits/orders has been open since 2026-11-22 12:00:00"
OPTION = ("--circuit", "circuits/orders")


def test_while_the_circuit_is_open_yes_does_not_answer(
    errors: Errors, orders: Queue, error: Queue, circuit: DynamoDbCircuit
) -> None:
    switch(circuit, Open(NOON, NOON))
    send_failed(error, headers=failed_at(orders))

    ran = errors("retry", "--queue", error.name, *OPTION, "--yes")

    assert (ran.status, orders.count(), error.count()) == (REFUSED, 0, 1)
    assert OPEN in ran.err
    assert (
        f"--yes does not answer here. Nothing is done yet. To do it: recoverable errors retry --queue {error.name}"
        in ran.err
    )


def test_the_name_answers(errors: Errors, orders: Queue, error: Queue, circuit: DynamoDbCircuit) -> None:
    switch(circuit, Open(NOON, NOON))
    send_failed(error, headers=failed_at(orders))

    ran = errors("retry", "--queue", error.name, *OPTION, "--confirm", error.name)

    assert (ran.status, orders.count(), OPEN in ran.err) == (DONE, 1, True)


def test_a_closed_circuit_asks_nothing_more(
    errors: Errors, orders: Queue, error: Queue, circuit: DynamoDbCircuit
) -> None:
    switch(circuit, Open(NOON, NOON))
    switch(circuit, CLOSED)
    send_failed(error, headers=failed_at(orders))

    ran = errors("retry", "--queue", error.name, *OPTION, "--yes")

    assert (ran.status, orders.count(), "circuit" in ran.err) == (DONE, 1, False)


def test_a_circuit_that_cannot_be_read_may_be_open(
    errors: Errors, orders: Queue, error: Queue, circuit: DynamoDbCircuit
) -> None:
    send_failed(error, headers=failed_at(orders))

    ran = errors("retry", "--queue", error.name, "--circuit", "nowhere/orders", "--yes")

    assert (ran.status, orders.count()) == (REFUSED, 0)
    assert "It is not known whether the circuit nowhere/orders is open: " in ran.err


@pytest.mark.parametrize("named", ["circuits", "/orders", "circuits/"])
def test_a_circuit_without_a_table_or_a_name_is_refused(errors: Errors, error: Queue, named: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        errors("retry", "--queue", error.name, "--circuit", named)


def test_a_place_names_the_circuit(
    errors: Errors, orders: Queue, error: Queue, circuit: DynamoDbCircuit, machine: Machine, sqs: str
) -> None:
    switch(circuit, Open(NOON, NOON))
    send_failed(error, headers=failed_at(orders))
    machine.own.write_text(place("orders", queue=error.arn, endpoint=sqs, poll=0, circuit="circuits/orders"))

    ran = errors("retry", "orders", "--yes")

    assert (ran.status, orders.count(), OPEN in ran.err) == (REFUSED, 0, True)


def test_an_import_asks_again_too(
    errors: Errors, orders: Queue, error: Queue, circuit: DynamoDbCircuit, tmp_path: Any
) -> None:
    switch(circuit, Open(NOON, NOON))
    send_failed(error, headers=failed_at(orders))
    file = str(tmp_path / "failed.jsonl")
    errors("export", "--queue", error.name, "--file", file)

    ran = errors("import", "--queue", error.name, "--file", file, *OPTION, "--yes")

    assert (ran.status, orders.count(), OPEN in ran.err) == (REFUSED, 0, True)
