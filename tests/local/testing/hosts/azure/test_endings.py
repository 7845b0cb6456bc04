"""Check whether messages are completed or abandoned, and whether the process is used again, by how an invocation ends."""

from __future__ import annotations

from typing import Any

import pytest

from local.testing.hosts.azure.hosts import Serve

BRIEF = 4
"""Seconds of a time-out that is reached."""

ENDINGS: dict[str, tuple[dict[str, Any], list[int]]] = {
    "returns": ({}, [1]),
    "returns a value": ({"does": "return", "answer": "done"}, [1, 1]),
    "raises": ({"does": "raise"}, [1, 1]),
    "exits with status 3": ({"does": "exit", "status": 3}, [1, 2]),
    "dies": ({"does": "die"}, [1, 2]),
}
"""Scripts of a message, each with the processes that then handle its deliveries."""


@pytest.mark.parametrize("queue", ["plain", "coroutine"])
@pytest.mark.parametrize("case", ENDINGS)
def test_a_message_comes_back_counted_unless_its_function_returns(serve: Serve, case: str, queue: str) -> None:
    script, processes = ENDINGS[case]
    orders = serve(queue)
    orders.send({"name": "a", **script})
    orders.run()
    assert (orders.received(), orders.processes()) == ([("a", 1), ("a", 2)][: len(processes)], processes)


def test_what_runs_in_a_process_that_dies_comes_back_with_it(serve: Serve) -> None:
    orders = serve("plain")
    orders.send({"name": "a", "does": "be killed"}, {"name": "b", "does": "kill others", "together": 2})
    orders.run()
    assert sorted(orders.received()) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert sorted(orders.processes()) == [1, 1, 2, 2]


def test_a_new_process_imports_the_app_anew(serve: Serve) -> None:
    orders = serve("plain")
    orders.send({"name": "a", "does": "die"})
    orders.run()
    assert orders.given()[1]["remembers"] == 1


def test_what_is_not_to_be_completed_comes_back_when_its_lock_has_ended(serve: Serve) -> None:
    orders = serve("left")
    orders.send("a")
    orders.run()
    [letter] = orders.dead()
    assert (orders.received(), letter["DeadLetterReason"]) == ([("a", 1), ("a", 2)], "MaxDeliveryCountExceeded")


def test_a_message_that_fails_too_often_is_a_dead_letter(serve: Serve) -> None:
    orders = serve("brief")
    orders.send({"name": "a", "does": "raise", "times": 99})
    orders.run()
    [letter] = orders.dead()
    del letter["DeadLetterErrorDescription"]
    assert (orders.received(), letter) == (
        [("a", 1), ("a", 2)],
        {"source": "brief", "DeadLetterReason": "MaxDeliveryCountExceeded"},
    )


OVERDUE: dict[str, dict[str, Any]] = {
    "takes too long": {"does": "spend", "seconds": 600},
    "raises what is no Exception": {"does": "raise unusually"},
}
"""Scripts that end in the time-out; the worker catches exceptions only."""


@pytest.mark.parametrize("case", OVERDUE)
def test_a_function_whose_end_is_not_heard_of_in_time_is_killed_and_its_message_comes_back(
    serve: Serve, case: str
) -> None:
    orders = serve("plain", timeout=BRIEF)
    orders.send({"name": "a", **OVERDUE[case]})
    orders.run()
    (first, *_), (*_, last) = orders.received(), orders.received()
    assert (first, last > first, orders.processes()[-1] > 1) == (("a", 1), True, True)


def test_a_process_that_ends_with_status_0_is_not_missed_before_a_time_out(serve: Serve) -> None:
    orders = serve("plain", timeout=BRIEF)
    orders.send({"name": "a", "does": "exit", "status": 0})
    orders.until_gone()
    orders.send("b")
    orders.run()
    assert (orders.received()[0], {"a", "b"}) == (("a", 1), {name for name, _ in orders.received()[1:]})
    assert ("b", 1) not in orders.received()
