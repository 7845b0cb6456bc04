"""Test the outcomes of an invocation in the Functions host, and what happens to its messages."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from azure.servicebus._pyamqp import _encode

from local.functions_host.conftest import Start
from local.functions_host.running_functions import RunningFunctions
from recoverable_local.functions_host import Died, Raised, Returned, Started, TimedOut, Trouble
from recoverable_local.service_bus import Depth

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("functions_host")]

SECOND = {"functionTimeout": "00:00:01"}

BY_HAND = """
@app.service_bus_queue_trigger(arg_name="message", queue_name="orders", connection="ServiceBus", data_type="binary", auto_complete_messages=False)
def orders(message: func.ServiceBusMessage) -> None:
    say("RUN", message.delivery_count)
"""


def outcomes(running: RunningFunctions, count: int) -> list[tuple[object, str]]:
    """Return the outcomes of the first invocations, with how their messages were settled."""
    return [(entry.outcome, entry.settled) for entry in running.ended(count)]


def test_what_a_function_returns_from_is_completed(start: Start) -> None:
    running = start()
    running.host.send("orders", "good")

    assert outcomes(running, 1) == [(Returned(), "completed")]
    assert running.host.queue("orders").depth() == Depth()


@pytest.mark.parametrize("minutes", [11, 61])
def test_a_message_after_a_quiet_time_is_handled(start: Start, minutes: int) -> None:
    """The host's links, of the asynchronous SDK, have ended meanwhile."""
    running = start()
    running.host.send("orders", "good")
    running.ended(1)

    running.namespace.advance(timedelta(minutes=minutes))
    running.host.send("orders", "good")

    assert outcomes(running, 2) == [(Returned(), "completed")] * 2
    assert running.host.queue("orders").depth() == Depth()


def test_a_message_that_cannot_be_decoded_is_named_and_the_others_go_on(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_encode._ENCODE_MAP, "RAW", lambda output, value, **_: output.extend(value))
    map_for_a_key = {"TYPE": "RAW", "VALUE": b"\xc1\x06\x02\xc1\x01\x00\xa1\x00"}
    running = start(max_delivery_count=1)
    running.host.send("orders", "odd", application_properties={"map": map_for_a_key})
    running.ended(1)
    running.host.send("orders", "good")

    why = "the message cannot be passed to the function: one of its application properties cannot be decoded by azure-servicebus"
    assert outcomes(running, 2) == [(Raised(why), "abandoned"), (Returned(), "completed")]


def test_what_a_function_raises_on_is_abandoned_and_comes_back_counted(start: Start) -> None:
    running = start(max_delivery_count=3)
    running.host.send("orders", "raise broken")
    running.until(lambda: running.host.queue("error").depth().active == 1)

    ended = [(entry.outcome.message, entry.settled) for entry in running.ended(3) if isinstance(entry.outcome, Raised)]
    assert ended == [("ValueError: broken", "abandoned")] * 3
    assert running.lines("RUN", 3) == ["raise broken 1", "raise broken 2", "raise broken 3"]
    [dead] = running.host.queue("error").messages()
    assert dead.application_properties["DeadLetterReason"] == "MaxDeliveryCountExceeded"


def test_what_is_not_to_be_completed_is_left_until_its_lock_ends(start: Start) -> None:
    running = start(BY_HAND)
    running.host.send("orders", "good")
    first = outcomes(running, 1)
    running.namespace.advance(timedelta(minutes=1))
    running.ended(2)

    assert first == [(Returned(), "left")]
    assert running.lines("RUN", 2) == ["1", "2"]


def test_a_dead_worker_is_replaced_and_all_that_ran_in_it_comes_back(start: Start) -> None:
    running = start()
    running.host.send("orders", "sleep 3600")
    running.until(lambda: running.lines_with("RUN"))
    running.host.send("orders", "die 3")

    assert outcomes(running, 2) == [(Died(3), "abandoned")] * 2
    running.until(lambda: len(running.all(Started)) >= 2)
    running.until(lambda: {"sleep 3600 2", "die 3 2"} <= set(running.lines_with("RUN")))


def test_a_function_that_takes_too_long_is_killed_and_the_worker_replaced(start: Start) -> None:
    running = start(host=SECOND)
    running.host.send("orders", "sleep 3600")
    timed_out = outcomes(running, 1)
    running.until(
        lambda: len(running.lines_with("RUN")) >= 2
    )  # not each delivery runs: the wait for a new worker counts

    assert timed_out == [(TimedOut(timedelta(seconds=1)), "abandoned")]
    assert len(running.all(Started)) >= 2


def test_what_ran_beside_it_is_held_until_its_own_time_is_over(start: Start) -> None:
    """The host forgets what else ran in the worker that it kills (azure-functions-host, `GrpcWorkerChannel.Dispose`)."""
    running = start(host=SECOND)
    running.host.send("orders", "sleep 3600")
    running.until(lambda: running.lines_with("RUN"))
    running.host.send("orders", "sleep 3601")
    ended = running.ended(2)

    assert [entry.outcome for entry in ended] == [TimedOut(timedelta(seconds=1))] * 2


def test_a_worker_that_ends_with_status_0_is_not_missed_before_the_time_out(start: Start) -> None:
    running = start(host=SECOND)
    running.host.send("orders", "exit 0")

    assert outcomes(running, 1) == [(TimedOut(timedelta(seconds=1)), "abandoned")]
    running.until(lambda: len(running.all(Started)) >= 2)


def test_a_lock_is_renewed_while_its_function_runs(start: Start) -> None:
    running = start(lock_duration=timedelta(seconds=5))
    running.host.send("orders", "sleep 6")

    assert outcomes(running, 1) == [(Returned(), "completed")]
    assert (running.lines("RUN", 1), running.all(Trouble)) == (["sleep 6 1"], [])


def test_a_lock_is_not_renewed_for_longer_than_host_json_says(start: Start) -> None:
    running = start(lock_duration=timedelta(seconds=1), service_bus={"maxAutoLockRenewalDuration": "00:00:00"})
    running.host.send("orders", "sleep 2.5")
    first = outcomes(running, 1)
    running.until(lambda: "sleep 2.5 2" in running.lines_with("RUN"))

    assert first == [(Returned(), "left")]
    assert {entry.then for entry in running.all(Trouble)} == {"the message comes back when its lock ends"}


def test_it_goes_on_when_connections_drop(start: Start, tmp_path: Path) -> None:
    running, gate = start(), tmp_path / "gate"
    running.host.send("orders", f"wait {gate}")
    running.until(lambda: running.lines_with("RUN"))
    running.namespace.drop_connections()
    gate.touch()
    first = outcomes(running, 1)
    running.host.send("orders", "good")

    assert first == [(Returned(), "completed")]
    running.until(lambda: "good 1" in running.lines_with("RUN"))
    running.until(lambda: running.host.queue("orders").depth() == Depth())


GATED_STEP = """
@app.service_bus_queue_trigger(arg_name="message", queue_name="orders", connection="ServiceBus", data_type="binary", is_sessions_enabled=True)
def step(message: func.ServiceBusMessage) -> None:
    say("STEP", message.delivery_count)
    if message.delivery_count == 1:
        await_gate(message.get_body().decode())
"""


def test_a_session_that_is_lost_while_its_function_runs_is_taken_again(start: Start, tmp_path: Path) -> None:
    running, gate = start(GATED_STEP, service_bus={"sessionIdleTimeout": "00:00:01"}), tmp_path / "gate"
    running.host.send("orders", str(gate), session_id="a")
    running.lines("STEP", 1)
    running.namespace.advance(timedelta(minutes=2))
    gate.touch()

    assert sorted(settled for _, settled in outcomes(running, 2)) == ["completed", "left"]
    assert running.lines("STEP", 2) == ["1", "2"]
    assert running.host.queue("orders").depth() == Depth()
