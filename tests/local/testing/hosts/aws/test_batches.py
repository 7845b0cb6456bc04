"""Check how messages are gathered into batches, how many are handled at a time, and that groups keep their order."""

from __future__ import annotations

from local.testing.hosts.aws.hosts import Serve


def sizes(deliveries: list[list[tuple[str, int]]]) -> list[int]:
    return [len(batch) for batch in deliveries]


def test_a_batch_has_no_more_messages_than_its_size(serve: Serve) -> None:
    orders = serve(batch_size=2, window=1)
    orders.send("a", "b", "c", "d", "e")
    orders.run()
    assert max(sizes(orders.deliveries())) == 2
    assert sorted(orders.received()) == [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)]


def test_a_batch_waits_for_its_window_until_it_is_full(serve: Serve) -> None:
    orders = serve(batch_size=3, window=300)
    for name in ("a", "b", "c"):
        orders.send(name)
    orders.run()
    assert sizes(orders.deliveries()) == [3]


def test_a_batch_that_does_not_fill_up_goes_when_its_window_is_over(serve: Serve) -> None:
    orders = serve(batch_size=20, window=1)
    orders.send("a", "b")
    orders.run()
    assert sizes(orders.deliveries()) == [2]


def test_no_more_invocations_run_at_a_time_than_the_mapping_may_have(serve: Serve) -> None:
    orders = serve(batch_size=1, concurrency=2)
    orders.send(*({"name": name, "does": "work", "together": 2} for name in "abcd"))
    orders.run()
    assert (sorted(orders.received()), orders.notes.most_at_a_time()) == ([("a", 1), ("b", 1), ("c", 1), ("d", 1)], 2)


def test_a_group_waits_for_its_message_that_failed(serve: Serve) -> None:
    orders = serve(batch_size=1, fifo=True)
    orders.send("a", {"name": "b", "does": "fail"}, "c", group="g")
    orders.run()
    assert orders.deliveries() == [[("a", 1)], [("b", 1)], [("b", 2)], [("c", 1)]]


def test_other_groups_go_on_while_one_waits(serve: Serve) -> None:
    orders = serve(batch_size=1, fifo=True)
    orders.send({"name": "a", "does": "raise"}, "b", group="g")
    orders.send("x", group="h")
    orders.until(2)
    others = sorted(orders.received())
    orders.run()
    assert (others, orders.deliveries()[2:]) == ([("a", 1), ("x", 1)], [[("a", 2)], [("b", 1)]])


def test_the_messages_of_a_group_are_not_handled_side_by_side(serve: Serve) -> None:
    orders = serve(batch_size=1, fifo=True)
    orders.send(*({"name": name, "does": "work", "together": 1} for name in "abc"), group="g")
    orders.run()
    assert (orders.deliveries(), orders.notes.most_at_a_time()) == ([[("a", 1)], [("b", 1)], [("c", 1)]], 1)


def test_a_batch_of_a_group_is_in_its_order(serve: Serve) -> None:
    orders = serve(fifo=True)
    orders.send("c", "a", "b", group="g")
    orders.run()
    assert orders.received() == [("c", 1), ("a", 1), ("b", 1)]
