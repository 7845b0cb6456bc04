"""Test cancelling: by id, by correlation, and of what is scheduled again with its key."""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders import seconds
from recoverable.timeouts import Store
from waiting.world import HOUR, MINUTE, Meddled, Shop


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
