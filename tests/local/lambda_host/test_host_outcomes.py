"""Test what happens to a batch for each outcome of its invocation, with the real runtime client on moto's SQS."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from local.lambda_host.conftest import Start
from local.lambda_host.processes import is_alive
from recoverable_local.lambda_host import Died, Ended, InitFailed, Invoked, Raised, Returned, Started, TimedOut

pytestmark = pytest.mark.slow

NO_FAILURES = Returned('{"batchItemFailures": []}')


def settled(entry: Ended) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return entry.completed, entry.failed


def test_a_message_that_succeeds_is_deleted(start: Start) -> None:
    running = start()
    order = running.send("succeed")

    (entry,) = running.ended(1)

    assert (entry.outcome, settled(entry), entry.reason) == (NO_FAILURES, ((order,), ()), None)
    assert running.host.queue("orders").depth().total == 0


def test_a_warm_instance_is_used_again(start: Start) -> None:
    running = start()
    for count in range(1, 4):
        running.send("succeed")
        running.ended(count)

    assert len(running.all(Started)) == 1
    assert len({entry.pid for entry in running.all(Invoked)}) == 1


def test_of_a_batch_only_what_the_function_reports_comes_back(start: Start) -> None:
    running = start(event={"BatchSize": 2, "MaximumBatchingWindowInSeconds": 300})
    good, bad = running.send("succeed"), running.send("fail")
    running.ended(1)
    other = running.send("succeed")  # that the second batch is full, too

    first, second = running.ended(2)

    assert (settled(first), sorted(second.completed)) == (((good,), (bad,)), sorted([bad, other]))
    assert sorted(running.delivered()) == [("fail", 1), ("fail", 2), ("succeed", 1), ("succeed", 1)]


def test_an_exception_brings_the_batch_back_and_keeps_the_instance(start: Start) -> None:
    running = start()
    order = running.send("raise")

    first, second = running.ended(2)

    assert first.outcome == Raised("ValueError", "no such card")
    assert (settled(first), settled(second)) == (((), (order,)), ((order,), ()))
    assert first.pid == second.pid


@pytest.mark.parametrize(("deed", "exit_code"), [("exit", 3), ("crash", 4)])
def test_a_process_that_ends_by_itself_brings_the_batch_back_to_another_instance(
    start: Start, deed: str, exit_code: int
) -> None:
    running = start()
    order = running.send(deed)

    first, second = running.ended(2)

    assert first.outcome == Died(exit_code)
    assert (settled(first), settled(second)) == (((), (order,)), ((order,), ()))
    assert first.pid != second.pid


@pytest.mark.parametrize("end", ["exit", "sleep"])
def test_what_died_or_timed_out_comes_back_after_the_time_that_the_host_is_given(start: Start, end: str) -> None:
    running = start(function={"Timeout": 5}, settings={"redeliver_after": timedelta(seconds=1)})
    running.send(end)

    running.until(lambda: len(running.all(Invoked)) >= 2)

    assert running.delivered()[:2] == [(end, 1), (end, 2)]


def test_a_time_out_kills_the_instance_and_brings_the_batch_back(start: Start) -> None:
    running = start(function={"Timeout": 1})
    order = running.send("sleep")

    (first,) = running.ended(1)
    running.make_visible(first)
    running.until(lambda: len(running.all(Invoked)) >= 2)

    assert (first.outcome, settled(first)) == (TimedOut(timedelta(seconds=1)), ((), (order,)))
    assert first.duration >= timedelta(seconds=1)
    assert running.delivered()[:2] == [("sleep", 1), ("sleep", 2)]
    assert not is_alive(first.pid)


@pytest.mark.parametrize("end", ["sleep", "crash"])
def test_what_a_function_has_started_ends_with_its_instance(start: Start, tmp_path: Path, end: str) -> None:
    running = start(function={"Timeout": 5})  # in which the child is started
    running.send("child", then=end, file=str(tmp_path / "child"))

    running.ended(1)

    running.until(lambda: not is_alive(int((tmp_path / "child").read_text())))


def test_a_module_that_cannot_be_loaded_is_reported_and_leaves_the_messages(start: Start) -> None:
    running = start(function={"Handler": "broken.handler"})
    order = running.send("succeed")

    (entry,) = running.ended(1)

    assert entry.outcome == InitFailed("RuntimeError", "no settings")
    assert settled(entry) == ((), (order,))
    assert running.all(Invoked) == []


def test_an_answer_that_cannot_be_read_brings_the_whole_batch_back(start: Start) -> None:
    running = start()
    order = running.send("answer", answer={"batchItemFailures": [{"itemIdentifier": "somebody else's"}]})

    first, second = running.ended(2)

    assert (settled(first), settled(second)) == (((), (order,)), ((order,), ()))
    assert "somebody else's" in str(first.reason)


def test_without_partial_responses_the_answer_is_not_looked_at(start: Start) -> None:
    running = start(event={"FunctionResponseTypes": []})
    order = running.send("fail")

    (entry,) = running.ended(1)

    assert settled(entry) == ((order,), ())


def test_a_message_received_too_often_goes_to_the_error_queue(start: Start) -> None:
    arn = {"Fn::GetAtt": ["Errors", "Arn"]}
    running = start(queue={"RedrivePolicy": {"deadLetterTargetArn": arn, "maxReceiveCount": 2}})
    order = running.send("fail", times=99)

    running.make_visible(running.ended(2)[-1])
    running.until(lambda: running.host.queue("errors").depth().visible)

    assert running.delivered() == [("fail", 1), ("fail", 2)]
    assert [message.id for message in running.host.queue("errors").messages()] == [order]
