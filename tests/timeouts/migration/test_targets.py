"""Test what SQS and Service Bus take from a migration, and what stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from builders import seconds
from recoverable._sqs.sender import Sender
from recoverable.timeouts import Store, Timeouts
from recoverable_local.service_bus import DropConnection, Operation, Queue, Refuse, ServiceBusNamespace
from recoverable_operate._migration.moving import SqsTarget, migrate
from recoverable_operate._migration.service_bus_client import ServiceBusTarget
from waiting.moving import moved
from waiting.rows import ALL, NOW, stored, take
from waiting.world import HOUR, MINUTE, Meddled, Shop


def test_what_is_due_soon_moves_to_sqs(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    timeouts = Timeouts(local_store, client=shop.world.client, clock=shop.now, longest_native=seconds(0))
    soon, later = shop.now() + 15 * MINUTE, shop.now() + 16 * MINUTE
    for at in (soon, later):
        timeouts.schedule("orders", "hello", at=at)
    target = SqsTarget(Sender(shop.world.client))
    summary = migrate(local_store, target, ALL, shop.now, dry_run=False, on_progress=str, on_skipped=str)

    assert [message.visible_at for message in shop.world.queue("orders")] == [soon]
    assert dict(summary.skipped) == {
        "SQS delays a message by 15 minutes at most, and one of a FIFO queue not at all": 1
    }


def test_what_sqs_refuses_stays(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    stored(local_store, shop.now() + MINUTE, to="gone")
    summary = migrate(
        local_store, SqsTarget(Sender(shop.world.client)), ALL, shop.now, dry_run=False, on_progress=str, on_skipped=str
    )

    [why] = summary.skipped
    assert why.startswith("SQS did not take it (")
    assert "NonExistentQueue" in why


def test_an_sqs_that_does_not_answer_may_have_what_was_sent(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    made = stored(local_store, shop.now() + MINUTE)

    def lose(_name: str) -> None:
        raise ConnectionError

    client: Any = Meddled(shop.world.client, after=lose)
    sent = SqsTarget(Sender(client)).send([made], shop.now())

    assert (sent.ids, sent.unconfirmed, sent.failed) == (set(), {made.id: sent.failed}, "ConnectionError")


@pytest.fixture
def namespace() -> Iterator[ServiceBusNamespace]:
    """Yield a namespace that has the orders queue."""
    with ServiceBusNamespace([Queue("orders")]) as running:
        yield running


@pytest.fixture
def service_bus(namespace: ServiceBusNamespace) -> Iterator[ServiceBusTarget]:
    """Return the namespace as a target."""
    target = ServiceBusTarget(namespace.connection_string)
    yield target
    target.close()


def test_what_is_moved_to_service_bus_is_scheduled_there(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    timeouts = Timeouts(local_store, clock=lambda: NOW)
    arn = "arn:aws:sqs:eu-west-1:123456789012:orders"
    timeout_id = timeouts.schedule(arn, "hello", delay=HOUR, headers={"mine": "yes"})
    assert moved(local_store, service_bus).changed == 1

    [message] = namespace.queue("orders").messages()
    properties = {str(name): value for name, value in message.application_properties.items()}
    assert (message.body, message.message_id, message.state) == (b"hello", timeout_id, "scheduled")
    assert seconds(0) <= message.enqueued_at - (NOW + HOUR) < seconds(0.001)  # AMQP writes milliseconds
    assert (properties["mine"], properties["NServiceBus.MessageId"]) == ("yes", timeout_id)


def test_a_queue_that_service_bus_does_not_have_leaves_its_messages_to_the_dispatcher(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    left = stored(local_store, NOW + HOUR, to="gone")
    stored(local_store, NOW + HOUR, to="https://sqs.eu-west-1.amazonaws.com/123456789012/orders")
    summary = moved(local_store, service_bus)

    assert (summary.changed, namespace.queue("orders").depth().scheduled) == (1, 1)
    assert dict(summary.skipped) == {
        "Service Bus did not take it (gone: MessagingEntityNotFoundError), so the dispatcher sees it again": 1
    }
    assert take(local_store, NOW + HOUR) == [left]


def test_a_message_that_service_bus_does_not_take_does_not_hold_back_others(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    large, _ = (
        stored(local_store, NOW + HOUR + seconds(n), body=body) for n, body in enumerate(["x" * 500_000, "hello"])
    )
    summary = moved(local_store, service_bus)

    assert (summary.changed, namespace.queue("orders").depth().scheduled) == (1, 1)
    assert dict(summary.skipped) == {
        "Service Bus did not take it (orders: MessageSizeExceededError), so the dispatcher sees it again": 1
    }
    assert take(local_store, NOW + HOUR) == [large]


def test_an_answer_that_nobody_knows_is_no_refusal(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    doubtful = stored(local_store, NOW + HOUR)
    namespace.fail(Operation.SEND, Refuse("com.microsoft:something-new"), times=None)
    summary = moved(local_store, service_bus)

    assert (summary.changed, summary.stopped) == (0, "orders: ServiceBusError")
    assert [row.id for page in local_store.scan(ALL) for row in page if row.held] == [doubtful.id]


def test_what_was_being_sent_when_a_connection_is_lost_is_in_doubt(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    doubtful = stored(local_store, NOW + HOUR)
    namespace.fail(Operation.SEND, DropConnection(done=True), times=None)
    summary = moved(local_store, service_bus)

    assert (summary.changed, summary.stopped) == (0, "orders: ServiceBusConnectionError")
    assert [row.id for page in local_store.scan(ALL) for row in page if row.held] == [doubtful.id]


def test_nothing_is_in_doubt_when_no_connection_is_made(local_store: Store) -> None:
    made = stored(local_store, NOW + HOUR)
    with ServiceBusNamespace([Queue("orders")]) as gone:
        nowhere = ServiceBusTarget(gone.connection_string)
    summary = moved(local_store, nowhere)
    nowhere.close()

    assert (summary.changed, summary.stopped) == (0, "orders: ServiceBusConnectionError")
    assert take(local_store, NOW + HOUR) == [made]
