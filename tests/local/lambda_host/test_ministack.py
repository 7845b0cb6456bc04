"""Test a host on ministack, another SQS than moto's, from the template to the error queue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.lambda_host.conftest import Start
from local.lambda_host.running_lambda import RunningLambda
from local.lambda_host.test_host_schedules import events, running_schedule
from recoverable_local.lambda_host import Died, Ended, Returned
from servers.ministack import running_cloud

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ministack")]


@pytest.fixture(scope="module")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_cloud(tmp_path_factory.mktemp("ministack") / "log") as cloud:
        yield cloud.url


def completed(running: RunningLambda) -> list[str]:
    return [order for entry in running.all(Ended) for order in entry.completed]


def test_each_kind_of_failure_comes_back_and_the_hopeless_one_ends_in_the_error_queue(
    start: Start, ministack: str
) -> None:
    arn = {"Fn::GetAtt": ["Errors", "Arn"]}
    running = start(
        settings={"endpoint_url": ministack},
        event={"BatchSize": 1},
        queue={"RedrivePolicy": {"deadLetterTargetArn": arn, "maxReceiveCount": 2}},
    )
    deeds = ("succeed", "fail", "raise", "crash")
    orders = {deed: running.send(deed) for deed in deeds}
    hopeless = running.send("fail", times=99)

    running.make_visible(running.ended(9)[-1])  # one is tried once and four twice
    running.until(lambda: running.host.queue("errors").depth().visible)
    running.until(lambda: running.host.queue("orders").depth().total == 0)

    assert sorted(completed(running)) == sorted(orders.values())
    assert [message.id for message in running.host.queue("errors").messages()] == [hopeless]
    assert [entry.outcome for entry in running.all(Ended) if isinstance(entry.outcome, Died)] == [Died(4)]


def test_a_fifo_queue_keeps_its_order(start: Start, ministack: str) -> None:
    running = start(settings={"endpoint_url": ministack}, fifo=True, event={"BatchSize": 1})
    for deed in ("succeed", "fail", "raise"):
        running.send(deed, queue="orders.fifo", group_id="blue")
    running.ended(5)

    assert running.delivered() == [("succeed", 1), ("fail", 1), ("fail", 2), ("raise", 1), ("raise", 2)]


def test_of_a_divided_fifo_batch_nothing_overtakes_what_failed(
    start: Start, ministack: str, tmp_path: Path
) -> None:  # here, since moto delivers the last message of a group first when several expire together
    running = start(
        settings={"endpoint_url": ministack}, fifo=True, function={"Timeout": 10}, queue={"VisibilityTimeout": 10}
    )
    gate = tmp_path / "gate"
    orders = [
        running.send(deed, queue="orders.fifo", group_id="blue", gate=str(gate), number=number, padding="x" * 1_000_000)
        for number, deed in enumerate(("wait", "raise", *["succeed"] * 6))
    ]
    gate.touch()
    running.until(lambda: len(completed(running)) >= len(orders))

    assert completed(running) == orders


def test_attributes_of_every_type_arrive(start: Start, ministack: str) -> None:
    running = start(settings={"endpoint_url": ministack})
    errors = running.host.queue("errors")
    errors.send("look", attributes={"tenant": "blue", "amount": 3, "picture": b"\x00\xff"})

    (message,) = errors.messages()

    assert message.attributes == {"tenant": "blue", "amount": "3", "picture": b"\x00\xff"}


def test_what_a_schedule_calls_finds_its_table(tmp_path: Path, ministack: str, stack_name: str) -> None:
    with running_schedule(tmp_path, ministack, stack_name) as running:
        (ended,) = running.ended(1)

    assert ended.outcome == Returned("null")
    assert events(ministack, stack_name)[ended.request_id]["detail-type"] == "Scheduled Event"
