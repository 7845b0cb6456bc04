"""Test `Timeouts`: what is scheduled arrives when it is due, unless it is cancelled before; what cannot be scheduled is refused at once."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import seconds
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import SendFailed, Store, StoreUnavailable, Timeouts
from recoverable_local.testing import SqsWorld
from recoverable_local.timeouts import SqliteStore
from waiting.rows import NOW, scan
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


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, TypeError, "schedule(at, delay): write one of the two"),
    ({"at": NOW, "delay": HOUR}, TypeError, "schedule(at, delay): write one of the two"),
    ({"delay": -seconds(1)}, ValueError, "schedule(delay) is -1 day, 23:59:59; write a timedelta from 0"),
    ({"delay": 3600}, TypeError, "schedule(delay) is 3600; write a timedelta"),
    ({"delay": timedelta.max}, ValueError, "until the year 2286"),
    ({"at": datetime(2030, 1, 1)}, ValueError, "of no zone; write datetime(..., tzinfo=UTC)"),  # noqa: DTZ001  # the mistake
    ({"at": datetime(2287, 1, 1, tzinfo=UTC)}, ValueError, "write a time until 2286-11-20"),
    ({"at": "tomorrow"}, TypeError, "schedule(at) is 'tomorrow'; write a datetime"),
    ({"delay": HOUR, "key": "reminder-7"}, TypeError, "schedule(key) goes with at=, because a delay counts from"),
    ({"delay": HOUR, "to": ""}, ValueError, "schedule(to) is '', and '' is no queue's name; write 1 to 80"),
    ({"delay": HOUR, "to": "Shop.Orders"}, ValueError, "'Shop.Orders' is no queue's name"),
    ({"delay": HOUR, "to": "orders\n"}, ValueError, "'orders\\n' is no queue's name"),
    ({"delay": HOUR, "to": "o" * 81}, ValueError, f"'{'o' * 81}' is no queue's name"),
    ({"delay": HOUR, "to": f"{'o' * 76}.fifo"}, ValueError, "o.fifo' is no queue's name"),
    ({"delay": HOUR, "to": "arn:aws:sqs:::orders"}, ValueError, "is no ARN of an SQS queue"),
    (
        {"delay": HOUR, "to": "https://sqs.eu-west-1.amazonaws.com/123456789012/a b"},
        ValueError,
        "'a b' is no queue's name",
    ),
    ({"delay": HOUR, "to": None}, TypeError, "schedule(to) is None"),
    ({"delay": HOUR, "to": "arn:aws:sns:eu-west-1:123456789012:x"}, ValueError, "is no ARN of an SQS queue"),
    ({"delay": HOUR, "to": "https://"}, ValueError, "schedule(to) is 'https://', and '' is no queue's name; write"),
    ({"delay": HOUR, "correlation": "é" * 1_001}, ValueError, "the correlation is of 2,002 bytes; write at"),
    ({"delay": HOUR, "correlation": "\ud800"}, ValueError, "the correlation holds half a surrogate pair"),
    ({"delay": HOUR, "body": b"raw"}, TypeError, "schedule(body) is bytes; SQS takes text"),
    ({"delay": HOUR, "body": ""}, ValueError, "schedule(body) is empty"),
    ({"delay": HOUR, "body": object()}, TypeError, "not JSON serializable"),
    ({"delay": HOUR, "body": "a\x00b"}, ValueError, "holds '\\x00', which SQS does not take"),
    ({"delay": HOUR, "body": "a\ud800b"}, ValueError, "holds '\\ud800', which SQS does not take"),
    ({"delay": HOUR, "body": "x" * 1_048_576}, ValueError, "SQS takes 1,048,576"),
]


@pytest.mark.parametrize(("given", "kind", "what"), WRONG, ids=[what for _, _, what in WRONG])
def test_what_cannot_be_scheduled_is_refused_at_once(
    local_store: Store, given: dict[str, Any], kind: type[Exception], what: str
) -> None:
    shop = Shop(local_store, receiving=False)

    with pytest.raises(kind, match=re.escape(what)):
        shop.timeouts.schedule(**{"to": "orders", "body": "hello", **given})
    assert shop.bodies("orders") == []


@pytest.mark.parametrize(
    "to",
    [
        "o" * 80,
        "Shop-Orders_2",
        "orders.fifo",
        f"{'o' * 75}.fifo",
        "arn:aws:sqs:eu-west-1:123456789012:orders",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo",
        "http://127.0.0.1:4566/000000000000/orders",
    ],
)
def test_what_sqs_can_call_a_queue_is_taken(local_store: Store, to: str) -> None:
    Shop(local_store, receiving=False).timeouts.schedule(to, "hello", delay=HOUR)

    assert [row.timeout.to for row in scan(local_store) if row.timeout] == [to]


@pytest.mark.parametrize(
    ("longest", "kind"), [(timedelta(seconds=901), ValueError), (-seconds(1), ValueError), (900, TypeError)], ids=str
)
def test_a_limit_that_sqs_does_not_have_is_refused(local_store: Store, longest: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"Timeouts\(longest_native\)"):
        Timeouts(local_store, longest_native=longest)


def test_what_is_cancelled_does_not_arrive(local_store: Store) -> None:
    shop = Shop(local_store)
    message_id = shop.timeouts.schedule("orders", "hello", delay=HOUR)

    assert shop.timeouts.cancel(message_id)
    shop.run_each_minute(2 * HOUR)
    assert shop.arrived == {}


def test_what_a_correlation_names_is_cancelled_together(local_store: Store) -> None:
    shop = Shop(local_store)
    for n in range(3):
        shop.timeouts.schedule("orders", "mine", delay=(1 + n) * HOUR, correlation="saga-1")
    other = shop.timeouts.schedule("orders", "other", delay=HOUR, correlation="saga-2")

    assert shop.timeouts.cancel_for("saga-1") == 3
    shop.run_each_minute(5 * HOUR)
    assert list(shop.arrived) == [other]


def test_a_saga_is_a_correlation(local_store: Store) -> None:
    shop = Shop(local_store)
    shop.timeouts.schedule("orders", "mine", delay=HOUR, headers={"NServiceBus.SagaId": "saga-1"})

    assert shop.timeouts.cancel_for("saga-1") == 1


def test_what_sqs_may_have_cannot_be_cancelled_after_a_dispatcher_whose_clock_is_behind(local_store: Store) -> None:
    """The clock of the first is an hour ahead, and SQS's answer to it is lost."""
    shop = Shop(local_store)
    message_id = shop.timeouts.schedule("orders", "hello", delay=HOUR)

    def lose(name: str) -> None:
        if name == "send_message_batch":
            raise ConnectionError

    deaf = Meddled(shop.world.client, after=lose)
    shop.new_dispatcher(client=deaf, clock=lambda: shop.now() + HOUR).run()
    shop.new_dispatcher().run()

    assert not shop.timeouts.cancel(message_id)


def test_what_sqs_delays_itself_cannot_be_cancelled(local_store: Store) -> None:
    shop = Shop(local_store)

    assert not shop.timeouts.cancel(shop.timeouts.schedule("orders", "hello", delay=MINUTE))


def test_the_same_key_at_the_same_time_is_one_message(local_store: Store) -> None:
    shop = Shop(local_store)
    due = shop.now() + HOUR
    ids = {shop.timeouts.schedule("orders", "hello", at=due, key="reminder-7") for _ in range(3)}
    shop.run_each_minute(2 * HOUR)

    assert [len(times) for times in shop.arrived.values()] == [len(ids)] == [1]


@pytest.mark.parametrize("again_after", [HOUR - MINUTE, HOUR - seconds(1), HOUR, HOUR + 5 * MINUTE], ids=str)
def test_it_is_one_message_also_when_sqs_could_delay_it_by_then(local_store: Store, again_after: timedelta) -> None:
    shop = Shop(local_store)
    due = shop.now() + HOUR
    first = shop.timeouts.schedule("orders", "hello", at=due, key="reminder-7")
    shop.run_each_minute(again_after)
    again = shop.timeouts.schedule("orders", "hello", at=due, key="reminder-7")
    shop.run_each_minute(15 * MINUTE)

    assert (again, shop.arrived) == (first, {first: [due]})


def test_what_was_cancelled_can_be_scheduled_again_with_its_key(local_store: Store) -> None:
    shop = Shop(local_store)
    due = shop.now() + HOUR
    assert shop.timeouts.cancel(shop.timeouts.schedule("orders", "hello", at=due, key="reminder-7"))
    message_id = shop.timeouts.schedule("orders", "hello", at=due, key="reminder-7")
    shop.run_each_minute(2 * HOUR)

    assert shop.arrived[message_id] == [due]
