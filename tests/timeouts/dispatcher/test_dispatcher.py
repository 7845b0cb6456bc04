"""Test the dispatcher: what it does with what is due, with what cannot be sent, and with the time it has."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import Dispatcher, Report, Store, Timeout
from recoverable.timeouts._timeout import new_id
from recoverable_local.timeouts import SqliteStore
from waiting.stores import PAGE
from waiting.world import HOUR, MINUTE, Meddled, Shop


def test_nothing_due_is_nothing_done(local_store: Store) -> None:
    assert Shop(local_store).dispatch() == Report(finished=True)


def test_it_says_what_it_did(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    for n in range(60):
        shop.timeouts.schedule("orders", f"{n}", delay=HOUR + seconds(n))
    shop.world.run(for_=HOUR + seconds(30))

    assert shop.dispatch() == Report(dispatched=60, behind=30.0, finished=True)


def test_lambda_is_told_the_same(local_store: Store) -> None:
    assert Shop(local_store).dispatcher({"detail-type": "Scheduled Event"}, None) == {
        "dispatched": 0, "kept": 0, "postponed": 0, "behind": 0.0, "finished": True,
    }  # fmt: skip


@pytest.mark.parametrize("ahead", [MINUTE, 2 * MINUTE, 15 * MINUTE], ids=str)
def test_it_takes_what_is_due_ahead_and_no_more(local_store: Store, ahead: Any) -> None:
    shop = Shop(local_store, receiving=False, ahead=ahead)
    for late in (seconds(0), seconds(1)):
        shop.timeouts.schedule("orders", str(late), delay=HOUR + late)
    shop.world.run(for_=HOUR - ahead)
    shop.dispatch()

    assert shop.bodies("orders") == ["0:00:00"]


def test_a_missed_run_makes_nothing_late(local_store: Store) -> None:
    shop = Shop(local_store)
    due, message_id = shop.now() + HOUR, shop.timeouts.schedule("orders", "hello", delay=HOUR)
    shop.world.run(for_=HOUR - 1.5 * MINUTE)
    shop.dispatch()
    shop.world.run(for_=HOUR)

    assert shop.arrived[message_id] == [due]


def test_a_queue_that_is_gone_does_not_hold_back_others(local_store: Store) -> None:
    shop = Shop(local_store)
    scheduled = [shop.timeouts.schedule(to, "hello", delay=HOUR) for to in ("gone", "orders", "gone", "orders")]
    shop.run_each_minute(HOUR)

    assert set(shop.arrived) == {scheduled[1], scheduled[3]}


def test_what_cannot_be_sent_is_kept_reported_and_tried_again_in_an_hour(
    local_store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop(local_store, receiving=False)
    message_id = shop.timeouts.schedule("gone", "hello", delay=HOUR)
    shop.run_each_minute(117 * MINUTE)
    told = [record for record in caplog.records if record.levelno == logging.ERROR]

    assert [(record.__dict__["timeout_id"], record.__dict__["queue"]) for record in told] == [(message_id, "gone")]
    assert "NonExistentQueue" in told[0].getMessage()
    assert "It is kept, and tried again after 2026-01-01T01:58:00+00:00." in told[0].getMessage()


def test_what_was_kept_is_sent_once_its_queue_is_there(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    shop.timeouts.schedule("gone", "hello", delay=HOUR)
    shop.run_each_minute(90 * MINUTE)
    shop.world.create_queue("gone")
    shop.run_each_minute(HOUR)

    assert shop.bodies("gone") == ["hello"]


def test_a_message_that_sqs_refuses_does_not_hold_back_its_neighbours(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    for n, body in enumerate(["one", "two", "three"]):
        due = shop.now() + HOUR
        bad = {"x" * 300: {"DataType": "String", "StringValue": "a name longer than SQS takes"}} if n == 1 else {}
        local_store.put(Timeout(new_id(due, f"{n:032x}", 1), "orders", body, attributes=bad), now=shop.now())
    shop.world.run(for_=HOUR)
    report = shop.dispatch()

    assert sorted(shop.bodies("orders")) == ["one", "three"]
    assert report == Report(dispatched=2, kept=1, finished=True)


def test_a_queue_that_does_not_answer_is_asked_again_at_the_next_run() -> None:
    store, sick = SqliteStore(), [True]
    shop = Shop(store, queues=("orders", "bank"), receiving=False)

    def refuse(_name: str) -> None:
        if sick:
            raise ConnectionError("no route")

    shop.dispatcher = shop.new_dispatcher(client=Meddled(shop.world.client, before=refuse))
    for n in range(30):
        shop.timeouts.schedule(queue_url(shop, "orders"), f"{n}", delay=HOUR)
    shop.world.run(for_=HOUR)
    first = shop.dispatch()
    sick.clear()

    assert (first, shop.dispatch()) == (Report(postponed=30, finished=True), Report(dispatched=30, finished=True))
    store.close()


def queue_url(shop: Shop, name: str) -> str:
    """Return the queue's URL, for which no look-up is needed."""
    return shop.world.client.get_queue_url(QueueName=name)["QueueUrl"]


def test_it_ends_when_its_time_is_over_and_the_next_run_goes_on(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    for n in range(100):
        shop.timeouts.schedule("orders", f"{n}", delay=HOUR)
    shop.world.run(for_=HOUR)
    seconds_left = iter([60, 60, 60, 60, 5])
    first = shop.dispatcher.run(lambda: next(seconds_left))
    second = shop.dispatcher.run()

    assert first == Report(dispatched=2 * PAGE, finished=False)
    assert (second.dispatched, second.finished, len(shop.bodies("orders"))) == (100 - 2 * PAGE, True, 100)


def test_a_dispatcher_that_lost_its_shard_stops_at_the_next_page(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    for n in range(5 * PAGE):
        shop.timeouts.schedule("orders", f"{n}", delay=HOUR)
    shop.world.run(for_=HOUR)
    now = shop.now() + HOUR

    def take_over(name: str) -> None:
        if name == "mark_dispatched":
            local_store.claim(0, "another", now=now, until=now + HOUR, horizon=now)

    robbed: Any = Meddled(local_store, before=take_over)

    assert Dispatcher(robbed, client=shop.world.client, clock=shop.now).run() == Report(dispatched=PAGE)


class Context:
    """Lambda's context, with two seconds left."""

    def get_remaining_time_in_millis(self) -> int:
        return 2_000


def test_it_begins_nothing_in_the_time_that_is_kept(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    shop.timeouts.schedule("orders", "hello", delay=HOUR)
    shop.world.run(for_=HOUR)

    assert shop.dispatcher({}, Context())["dispatched"] == 0


def test_a_batch_holds_no_more_than_sqs_takes(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    for _ in range(5):
        shop.timeouts.schedule("orders", "x" * 400_000, delay=HOUR)
    shop.world.run(for_=HOUR)

    assert shop.dispatch() == Report(dispatched=5, finished=True)


@pytest.mark.parametrize(
    "wrong",
    [{"ahead": 16 * MINUTE}, {"ahead": -MINUTE}, {"lease": 60}, {"lease": seconds(0)}, {"critical_after": seconds(0)}],
    ids=str,
)
def test_a_setting_out_of_range_is_refused(local_store: Store, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        Dispatcher(local_store, **wrong)
