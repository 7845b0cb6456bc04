"""Check how many messages are handled at a time, in which order, and which come together."""

from __future__ import annotations

import pytest

from local.testing.hosts.azure.hosts import AT_A_TIME, OF_A_BATCH, Serve


def test_no_more_messages_are_handled_at_a_time_than_host_json_says(serve: Serve) -> None:
    orders = serve("plain")
    orders.send(*({"name": name, "does": "work", "together": AT_A_TIME} for name in "abcd"))
    orders.run()
    assert (sorted(orders.received()), orders.notes.most_at_a_time()) == (
        [("a", 1), ("b", 1), ("c", 1), ("d", 1)],
        AT_A_TIME,
    )


def test_the_messages_of_a_session_are_handled_one_after_the_other(serve: Serve) -> None:
    orders = serve("session")
    orders.send(*({"name": name, "does": "work", "together": 1} for name in "cab"), session_id="s")
    orders.run()
    assert (orders.received(), orders.notes.most_at_a_time()) == ([("c", 1), ("a", 1), ("b", 1)], 1)


def test_no_more_sessions_are_handled_at_a_time_than_host_json_says(serve: Serve) -> None:
    orders = serve("session")
    for name in "abc":
        orders.send({"name": name, "does": "work", "together": AT_A_TIME}, session_id=name)
    orders.run()
    assert (sorted(orders.received()), orders.notes.most_at_a_time()) == ([("a", 1), ("b", 1), ("c", 1)], AT_A_TIME)


def test_a_message_of_a_session_that_failed_comes_before_the_next(serve: Serve) -> None:
    orders = serve("session")
    orders.send({"name": "a", "does": "raise", "times": 2}, "b", session_id="s")
    orders.run()
    assert orders.received() == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]


def test_a_message_of_a_session_whose_process_died_comes_before_the_next(serve: Serve) -> None:
    orders = serve("session")
    orders.send({"name": "a", "does": "die"}, "b", session_id="s")
    orders.run()
    assert (orders.received(), orders.processes()) == ([("a", 1), ("a", 2), ("b", 1)], [1, 2, 2])


def test_a_batch_has_no_more_messages_than_host_json_says(serve: Serve) -> None:
    orders = serve("many")
    orders.send("a", "b", "c", "d", "e")
    orders.run()
    assert max(len(batch) for batch in orders.deliveries()) <= OF_A_BATCH
    assert sorted(orders.received()) == [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)]


@pytest.mark.parametrize("case", ["raise", "die"])
def test_all_messages_of_a_batch_come_back_counted(serve: Serve, case: str) -> None:
    orders = serve("many")
    orders.send("a", {"name": "b", "does": case}, "c")
    orders.run()
    [failed] = [batch for batch in orders.deliveries() if ("b", 1) in batch]
    again = {(name, count + 1) for name, count in failed}
    assert again <= set(orders.received())
    assert len(orders.received()) == 3 + len(failed)
