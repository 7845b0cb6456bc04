"""Test `Timeouts`: what is scheduled arrives when it is due, unless it is cancelled before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from builders import seconds
from recoverable._message import Message
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import SendFailed, SqliteStore, Store, StoreUnavailable, Timeouts
from recoverable_local.testing import SqsWorld
from waiting.world import DAY, HOUR, MINUTE, Meddled, Shop


@pytest.mark.parametrize(
    "delay", [seconds(1), MINUTE, timedelta(seconds=900), timedelta(seconds=900.5), HOUR, 30 * DAY], ids=str
)
def test_a_message_arrives_when_its_delay_is_over(local_store: Store, delay: timedelta) -> None:
    shop = Shop(local_store)
    due, message_id = shop.now() + delay, shop.timeouts.schedule("orders", "hello", delay=delay)
    shop.world.run(for_=max(int(delay.total_seconds()) - 600, 0))  # the dispatcher need not run before
    shop.run_each_minute(15 * MINUTE)

    [arrived] = shop.arrived[message_id]
    assert due <= arrived <= due + seconds(1)


def test_a_message_arrives_at_its_time(local_store: Store) -> None:
    shop = Shop(local_store)
    message_id = shop.timeouts.schedule("orders", "hello", at=shop.now() + HOUR)
    shop.run_each_minute(2 * HOUR)

    assert shop.arrived[message_id] == [datetime(2026, 1, 1, 1, tzinfo=UTC)]


def test_the_past_means_now(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    shop.timeouts.schedule("orders", "hello", at=shop.now() - DAY)

    assert [message.visible_at <= shop.now() for message in shop.world.queue("orders")] == [True]


def test_a_store_is_not_touched_for_what_sqs_can_delay() -> None:
    def refuse(_name: str) -> None:
        raise StoreUnavailable("touched")

    shop = Shop(Meddled(SqliteStore(), before=refuse), receiving=False)
    shop.timeouts.schedule("orders", "hello", delay=timedelta(seconds=900))

    assert shop.bodies("orders") == ["hello"]


def test_a_lowered_limit_has_shorter_delays_stored(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    timeouts = Timeouts(local_store, client=shop.world.client, clock=shop.now, longest_native=seconds(10))
    timeouts.schedule("orders", "stored", delay=seconds(11))
    timeouts.schedule("orders", "sent", delay=seconds(10))

    assert shop.bodies("orders") == ["sent"]


def test_a_fifo_queue_gets_it_when_it_is_due_for_it_delays_no_message(local_store: Store) -> None:
    shop = Shop(local_store, queues=("orders.fifo",))
    message_id = shop.timeouts.schedule("orders.fifo", "hello", delay=seconds(90))
    shop.run_each_minute(5 * MINUTE)

    assert shop.arrived[message_id] == [datetime(2026, 1, 1, 0, 2, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("body", "text"), [("hello", "hello"), ({"order": 1}, '{"order": 1}'), ([1], "[1]"), (7, "7")], ids=str
)
def test_a_body_is_a_text_or_json(local_store: Store, body: object, text: str) -> None:
    shop = Shop(local_store, receiving=False)
    shop.timeouts.schedule("orders", body, delay=HOUR)
    shop.run_each_minute(HOUR)

    assert shop.bodies("orders") == [text]


def test_a_handler_sees_the_headers_and_one_id(local_store: Store) -> None:
    shop, seen = Shop(local_store, receiving=False), []

    def handle(message: Message) -> None:
        seen.append((message.id, message.headers["mine"], message.sent_at))

    shop.world.serve("orders", SqsEndpoint(handle))
    message_id = shop.timeouts.schedule("orders", "hello", delay=HOUR, headers={"mine": "yes"})
    due = shop.now() + HOUR
    shop.run_each_minute(2 * HOUR)

    assert seen == [(message_id, "yes", due)]


def test_a_handler_schedules_in_its_worlds_time(local_store: Store, sqs_world: SqsWorld) -> None:
    timeouts = Timeouts(local_store)

    def remind(_message: Message) -> None:
        timeouts.schedule("reminders", "pay", delay=seconds(600))

    sqs_world.create_queue("reminders")
    sqs_world.serve("orders", SqsEndpoint(remind))
    sqs_world.send("orders", "hello")
    sqs_world.run(for_=seconds(1))

    [reminder] = sqs_world.queue("reminders")
    assert (reminder.body, reminder.visible_at > sqs_world.now) == ("pay", True)


def test_a_copy_that_is_made_already_is_held_as_it_is(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    attributes = {"raw": {"DataType": "Binary", "BinaryValue": b"\x00\xff"}}
    entry = {"MessageBody": "copy", "MessageAttributes": attributes, "MessageGroupId": "g", "DelaySeconds": 3600}
    shop.timeouts.hold(entry, to="orders", at=shop.world.now + HOUR)
    shop.run_each_minute(HOUR + MINUTE)

    [answer] = shop.world.client.receive_message(
        QueueUrl="orders", MessageAttributeNames=["All"], MessageSystemAttributeNames=["All"]
    )["Messages"]
    assert answer["Body"] == "copy"
    assert answer["MessageAttributes"]["raw"]["BinaryValue"] == b"\x00\xff"
    assert answer["Attributes"]["MessageGroupId"] == "g"


def test_a_send_that_sqs_refuses_is_told(local_store: Store) -> None:
    shop = Shop(local_store)

    with pytest.raises(SendFailed, match=r"'nowhere' is not sent: .*NonExistentQueue"):
        shop.timeouts.schedule("nowhere", "hello", delay=MINUTE)
