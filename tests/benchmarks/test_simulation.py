"""That the simulation counts what happens, and that instances do not multiply attempts."""

from __future__ import annotations

from pathlib import Path

import pytest

import simulation
from simulation.cell import Cell, Result, Spread, simulate
from simulation.in_memory import in_memory
from simulation.logged import as_on_lambda, logged
from simulation.prices import SQS_CHUNK, chunks, lambda_dollars, log_dollars, sqs_dollars
from simulation.subjects import SUBJECTS, Subject


def counted(result: Result) -> tuple[int, int, int, int, int]:
    return (
        result.failing.most,
        result.calls,
        result.requests,
        result.invocations,
        round(result.lambda_seconds * 1_000),
    )


def test_one_failed_message_costs_what_a_count_by_hand_says() -> None:
    assert {name: counted(simulate(Cell(name, 1, 1, 1))) for name in SUBJECTS} == {
        # attempts, calls, requests, invocations, milliseconds
        # in each of four rounds: five redeliveries, a send and a delete; a receive for each attempt, and the mapping's four deletes
        # and one look at the queue
        "recoverable": (24, 29, 29 + 24 + 4, 24, 24 * 20 + 29 * 10),
        "recoverable, 5 attempts": (5, 11, 11 + 5 + 5, 5, 5 * 20 + 11 * 10),
        "redrive policy": (5, 0, 5, 5, 5 * 20),
        "Powertools": (5, 0, 5, 5, 5 * 20),
        # a send and a delete in each of four rounds; a receive and the mapping's delete for each
        "NServiceBus": (24, 8, 8 + 4 + 4, 4, 24 * 20 + 8 * 10),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "attempts"),
    [("recoverable", 24), ("recoverable, 5 attempts", 5), ("Powertools", 5), ("NServiceBus", 24)],
)
def test_a_message_is_tried_as_often_on_a_hundred_instances_as_on_one(subject: str, attempts: int) -> None:
    alone, many = (simulate(Cell(subject, 60, 1, instances)) for instances in (1, 100))
    assert (alone.failing, many.failing) == (Spread(attempts, attempts, attempts),) * 2
    assert (alone.most_at_once, many.most_at_once >= 6) == (1, True)
    assert (alone.failing_set_aside, many.failing_set_aside) == (60, 60)


def test_the_simulation_would_show_attempts_that_grow_with_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUBJECTS, "in memory", Subject("in memory", in_memory, 50, partial_responses=True))
    alone, many = (simulate(Cell("in memory", 60, 1, instances)).failing for instances in (1, 100))
    assert (alone, many.mean > 2 * alone.mean) == (Spread(6, 6.0, 6), True)


def test_a_batch_that_fails_as_a_whole_takes_good_messages_to_the_error_queue() -> None:
    result = simulate(Cell("redrive policy", 100, 10, 1))
    assert (result.failing_set_aside, result.good_set_aside > 0) == (10, True)


@pytest.mark.parametrize("subject", sorted(SUBJECTS.keys() - {"redrive policy"}))
def test_nobody_else_gives_a_good_message_up_or_tries_it_twice(subject: str) -> None:
    result = simulate(Cell(subject, 100, 10, 10))
    assert (result.failing_set_aside, result.good_set_aside, result.good) == (10, 0, Spread(1, 1.0, 1))


@pytest.mark.parametrize(("size", "requests"), [(0, 1), (SQS_CHUNK, 1), (SQS_CHUNK + 1, 2), (4 * SQS_CHUNK, 4)])
def test_a_request_is_billed_by_64_kib_of_payload(size: int, requests: int) -> None:
    assert chunks(b"x" * size) == requests


def test_a_million_requests_seconds_of_a_gigabyte_and_kilobytes_of_log_cost_the_list_price() -> None:
    assert round(sqs_dollars(1_000_000), 6) == 0.4
    assert round(lambda_dollars(1_000_000, 4_000_000), 4) == 13.5334
    assert log_dollars(1_000_000_000) == 0.5


def test_the_log_of_a_failed_message_is_counted() -> None:
    assert logged("recoverable") > logged("redrive policy") > 0


def test_a_traceback_is_as_long_wherever_the_simulation_runs() -> None:
    file = Path(simulation.__path__[0], "work.py")
    assert as_on_lambda(f'  File "{file}", line 54') == '  File "/var/task/simulation/work.py", line 54'
