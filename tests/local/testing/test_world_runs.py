"""Check that a world runs until nothing is left to do, and each time the same."""

from __future__ import annotations

from itertools import count

import pytest

from local.testing.ladders import attempts, endpoint, happened, seconds
from recoverable_local.testing import EndlessRun, SqsWorld


def test_a_declined_card_climbs_the_ladder_to_the_error_queue(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint())
    sqs_world.send("orders", {"id": 1, "card": "declined"})
    sqs_world.run()
    why = "CardDeclined: do not honour"
    assert attempts(sqs_world) == [(0, why), (0, why), (10, why), (10, why)]
    assert [m.exception_type for m in sqs_world.queue("orders-error")] == ["local.testing.ladders.CardDeclined"]


def test_the_time_stands_still_but_for_what_is_waited_for(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    sqs_world.serve("orders", lambda _event, _context: None)
    sqs_world.send("orders", "x", delay=900)
    sqs_world.run()
    assert (sqs_world.now - began, sqs_world.queue("orders")) == (seconds(900), [])


def test_a_run_for_a_while_ends_then(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    sqs_world.serve("orders", lambda _event, _context: None)
    sqs_world.send("orders", "x", delay=900)
    sqs_world.run(for_=899)
    assert (sqs_world.now - began, len(sqs_world.queue("orders"))) == (seconds(899), 1)


def test_a_run_for_a_while_finishes_the_handler_that_is_at_work(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    sqs_world.serve("orders", lambda _event, _context: sqs_world.spend(20))
    sqs_world.send("orders", "x")
    sqs_world.at(15, lambda: None)
    sqs_world.run(for_=10)
    assert (sqs_world.now - began, sqs_world.queue("orders")) == (seconds(20), [])


def test_callbacks_change_the_world_in_between(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", lambda _event, _context: None)
    sqs_world.at(60, lambda: sqs_world.send("orders", "later"))
    sqs_world.run()
    assert [at for at, _, _ in happened(sqs_world, "deleted")] == [seconds(60)]


def test_what_a_callback_raises_ends_the_run(sqs_world: SqsWorld) -> None:
    def check() -> None:
        raise AssertionError("not yet")

    sqs_world.at(5, check)
    with pytest.raises(AssertionError, match="not yet"):
        sqs_world.run()


def test_what_a_callback_raises_while_handlers_wait_ends_the_run(sqs_world: SqsWorld) -> None:
    def check() -> None:
        raise AssertionError("not yet")

    sqs_world.serve("orders", lambda _event, _context: sqs_world.spend(20), batch_size=1)
    for _ in range(3):
        sqs_world.send("orders", "x")
    sqs_world.at(5, check)
    with pytest.raises(AssertionError, match="not yet"):
        sqs_world.run()


def test_a_message_that_always_comes_back_at_once_ends_the_run() -> None:
    world, numbers = SqsWorld(most_invocations=100), count()

    def fail(_event: object, _context: object) -> None:
        raise ValueError(next(numbers))

    world.serve("orders", fail)
    world.create_queue("orders", visibility_timeout=0)
    world.send("orders", "x")
    with pytest.raises(EndlessRun, match="100 invocations"):
        world.run()


def test_each_run_may_take_as_many_invocations_again() -> None:
    world = SqsWorld(most_invocations=1)
    world.serve("orders", lambda _event, _context: None)
    for _ in range(3):
        world.send("orders", "x")
        world.run()
    assert world.queue("orders") == []


def test_a_world_does_not_run_inside_itself(sqs_world: SqsWorld) -> None:
    sqs_world.at(0, sqs_world.run)
    with pytest.raises(RuntimeError, match=r"world\.spend"):
        sqs_world.run()


def bodies_in_order(seed: int | None) -> list[str]:
    world, seen = SqsWorld(seed=seed), list[str]()
    world.serve("orders", lambda event, _context: seen.extend(r["body"] for r in event["Records"]))
    for n in range(10):
        world.send("orders", str(n))
    world.run()
    return seen


def test_without_a_seed_messages_come_in_the_order_of_their_sends() -> None:
    assert bodies_in_order(None) == [str(n) for n in range(10)]


def test_with_a_seed_messages_come_in_any_order_but_each_time_in_the_same() -> None:
    assert bodies_in_order(1) == bodies_in_order(1) != bodies_in_order(2)
    assert sorted(bodies_in_order(1)) == bodies_in_order(None)


def test_the_same_world_has_the_same_timeline() -> None:
    def timeline() -> str:
        world = SqsWorld(seed=7)
        world.serve("orders", endpoint(), concurrency=2, batch_size=2)
        for n in range(6):
            world.send("orders", n)
        world.run()
        return str(world.timeline())

    assert timeline() == timeline()
