"""Check whether messages come back, and whether the process is used again, by how an invocation ends."""

from __future__ import annotations

import pytest

from local.testing.hosts.aws.hosts import Serve

ENDINGS: dict[str, list[int]] = {
    "returns with a failure": [1, 1],
    "raises": [1, 1],
    "raises what is no Exception": [1, 2],
    "exits": [1, 2],
    "dies": [1, 2],
}
"""In which processes the first and the second invocation are."""

BRIEF = 4
"""Seconds of a time-out that is reached, and not by a process that has only begun."""

DEEDS = {
    "returns with a failure": "fail",
    "raises": "raise",
    "raises what is no Exception": "raise unusually",
    "exits": "exit",
    "dies": "die",
}


@pytest.mark.parametrize("case", ENDINGS)
def test_a_message_comes_back_and_the_process_is_kept_if_it_lives(serve: Serve, case: str) -> None:
    orders = serve()
    orders.send({"name": "a", "does": DEEDS[case]})
    orders.run()
    assert (orders.deliveries(), orders.processes()) == ([[("a", 1)], [("a", 2)]], ENDINGS[case])


@pytest.mark.parametrize("case", ["raises", "dies"])
def test_all_messages_of_a_batch_come_back(serve: Serve, case: str) -> None:
    orders = serve(batch_size=3, window=1)
    orders.send("a", {"name": "b", "does": DEEDS[case]}, "c")
    orders.run()
    assert sorted(orders.received()) == [(name, count) for name in "abc" for count in (1, 2)]


@pytest.mark.parametrize("case", ["returns with a failure", "raises", "dies"])
def test_what_failed_is_hidden_until_its_visibility_timeout_is_over(serve: Serve, case: str) -> None:
    orders = serve()
    orders.send({"name": "a", "does": DEEDS[case]})
    orders.until(1)
    failed = orders.depth()
    orders.run()
    assert (failed, orders.depth()) == ({"visible": 0, "hidden": 1}, {"visible": 0, "hidden": 0})


def test_a_process_is_used_again(serve: Serve) -> None:
    orders = serve()
    for name in ("a", "b", "c"):
        orders.send(name)
        orders.run()
    assert (orders.deliveries(), orders.processes()) == ([[("a", 1)], [("b", 1)], [("c", 1)]], [1, 1, 1])


def test_a_process_remembers_what_its_module_holds(serve: Serve) -> None:
    orders = serve()
    for name in ("a", "b"):
        orders.send(name)
        orders.run()
    first, second = orders.given()
    assert second["remembers"] == first["remembers"] + 1


def test_a_new_process_imports_the_module_anew(serve: Serve) -> None:
    orders = serve()
    orders.send({"name": "a", "does": "die"})
    orders.run()
    assert orders.given()[1]["remembers"] == 1


def test_a_function_that_takes_too_long_is_killed_and_its_messages_come_back(serve: Serve) -> None:
    orders = serve(batch_size=2, window=1, timeout=BRIEF)
    orders.send("a", {"name": "b", "does": "spend", "seconds": 600})
    orders.run()
    first, second = orders.deliveries()[:2]
    assert (sorted(first), {receives for _, receives in second}) == ([("a", 1), ("b", 1)], {2})
    assert orders.processes()[:2] == [1, 2]


def test_a_message_that_is_received_too_often_is_a_dead_letter(serve: Serve) -> None:
    orders = serve(max_receives=2)
    orders.send({"name": "a", "does": "fail", "times": 99})
    orders.run()
    assert (orders.deliveries(), orders.dead()) == ([[("a", 1)], [("a", 2)]], ["a"])
