"""Test how records are collected into batches, and the order of FIFO queues."""

from __future__ import annotations

import pytest

from local.lambda_host.conftest import Start
from recoverable_local.lambda_host import Ended, Invoked

pytestmark = pytest.mark.slow

MEGABYTE = "x" * 1_000_000


def sizes(invoked: list[Invoked]) -> list[int]:
    return [len(entry.records) for entry in invoked]


def test_a_batch_gathers_more_than_one_receive_brings(start: Start) -> None:
    running = start(event={"BatchSize": 13, "MaximumBatchingWindowInSeconds": 300})
    for _ in range(13):
        running.send("succeed")
    running.ended(1)

    assert sizes(running.all(Invoked)) == [13]


def test_a_batch_that_does_not_fill_up_goes_when_its_window_closes(start: Start) -> None:
    running = start(event={"BatchSize": 13, "MaximumBatchingWindowInSeconds": 1})
    running.send("succeed")
    running.ended(1)

    assert sizes(running.all(Invoked)) == [1]


def test_a_full_batch_does_not_wait_for_its_window(start: Start) -> None:
    running = start(event={"BatchSize": 2, "MaximumBatchingWindowInSeconds": 300})
    for _ in range(4):
        running.send("succeed")
    running.ended(2)

    assert sizes(running.all(Invoked)) == [2, 2]
    assert running.host.queue("orders").depth().total == 0


def test_a_batch_closes_and_is_divided_at_the_size_that_lambda_accepts(start: Start) -> None:
    running = start(event={"BatchSize": 100, "MaximumBatchingWindowInSeconds": 300})
    for _ in range(7):
        running.send("succeed", padding=MEGABYTE)
    running.until(lambda: sum(sizes(running.all(Invoked))) >= 7)

    assert max(sizes(running.all(Invoked))) <= 6


def test_a_fifo_queue_keeps_the_order_of_a_group_while_one_of_it_fails(start: Start) -> None:
    running = start(fifo=True, event={"BatchSize": 1})
    for name in ("a", "b", "c"):
        running.send("fail" if name == "b" else "succeed", queue="orders.fifo", group_id="blue", name=name)
    running.ended(4)

    assert running.delivered() == [("succeed", 1), ("fail", 1), ("fail", 2), ("succeed", 1)]


def test_a_failed_group_does_not_hold_up_another(start: Start) -> None:
    running = start(fifo=True, event={"BatchSize": 1})
    for group in ("blue", "green"):
        running.send("fail" if group == "blue" else "succeed", queue="orders.fifo", group_id=group)
    running.until(lambda: len(running.all(Ended)) >= 2)

    assert sorted(running.delivered()) == [("fail", 1), ("succeed", 1)]
