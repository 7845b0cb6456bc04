"""Test the queues and topics of the namespace that the Functions host serves, and where their dead letters go."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from recoverable_local.functions_host import Settings
from recoverable_local.functions_host.app.entities import queues_of, topics_of
from recoverable_local.functions_host.app.triggers import Output, Trigger
from recoverable_local.service_bus import Queue, Subscription, Topic

LOCK = timedelta(minutes=1)


def queue(name: str, *, sessions: bool = False) -> Queue:
    """Build a queue as the host creates it."""
    return Queue(name, LOCK, 100, requires_session=sessions, forward_dead_lettered_messages_to="error")


def subscription(name: str, *, sessions: bool = False) -> Subscription:
    """Build a subscription as the host creates it."""
    return Subscription(
        name,
        lock_duration=LOCK,
        max_delivery_count=100,
        requires_session=sessions,
        forward_dead_lettered_messages_to="error",
    )


ERROR = Queue("error", LOCK, 100)


def test_there_is_a_queue_for_each_trigger_and_the_error_queue() -> None:
    triggers = [Trigger("a", "orders"), Trigger("b", "steps", sessions=True), Trigger("c", "orders")]

    assert queues_of(triggers, Settings(), error_queue="error") == [
        ERROR, queue("orders"), queue("steps", sessions=True),
    ]  # fmt: skip


def test_an_endpoint_brings_its_own_error_queue_which_gets_its_dead_letters() -> None:
    triggers = [Trigger("a", "orders", error_queue="orders-error"), Trigger("b", "steps")]

    assert queues_of(triggers, Settings(), error_queue="error") == [
        ERROR,
        replace(ERROR, name="orders-error"),
        replace(queue("orders"), forward_dead_lettered_messages_to="orders-error"),
        queue("steps"),
    ]


def test_where_an_error_queue_is_asked_for_it_gets_all_dead_letters() -> None:
    triggers = [Trigger("a", "orders", error_queue="orders-error")]

    assert queues_of(triggers, Settings(error_queue="error"), error_queue="error") == [
        ERROR, replace(ERROR, name="orders-error"), queue("orders"),
    ]  # fmt: skip


def test_what_is_asked_for_stands_above_what_is_read() -> None:
    mine = Queue("orders", max_delivery_count=3)
    settings = Settings(queues=[mine, "more", Queue("error", max_delivery_count=1)])

    assert queues_of([Trigger("a", "orders")], settings, error_queue="error") == [
        Queue("error", max_delivery_count=1), mine, queue("more"),
    ]  # fmt: skip


def test_there_is_a_topic_with_all_subscriptions_that_are_read() -> None:
    triggers = [
        Trigger("a", "sales", "shop"),
        Trigger("b", "sales", "audit", sessions=True),
        Trigger("c", "news", "shop"),
        Trigger("d", "orders"),
    ]

    assert topics_of(triggers, Settings(), error_queue="error") == [
        Topic("news", (subscription("shop"),)),
        Topic("sales", (subscription("audit", sessions=True), subscription("shop"))),
    ]


def test_a_topic_of_the_settings_forwards_to_a_queue() -> None:
    mine = Topic("news", (Subscription("all"),))
    settings = Settings(topics=[("sales", "orders"), mine])
    triggers = [Trigger("a", "sales", "audit"), Trigger("b", "orders")]

    assert topics_of(triggers, settings, error_queue="error") == [
        mine,
        Topic("sales", (subscription("audit"), replace(subscription("orders"), forward_to="orders"))),
    ]


def test_a_topic_of_the_settings_makes_the_queue_that_it_forwards_to() -> None:
    settings, triggers = (
        Settings(topics=[("events", "sales/orders"), ("events", "steps")]),
        [Trigger("b", "steps", sessions=True)],
    )

    names = [
        (each.name, each.forward_to) for each in topics_of(triggers, settings, error_queue="error")[0].subscriptions
    ]

    assert queues_of(triggers, settings, error_queue="error") == [
        ERROR, queue("steps", sessions=True), queue("sales/orders"),
    ]  # fmt: skip
    assert names == [("sales-orders", "sales/orders"), ("steps", "steps")]


def test_there_is_a_queue_or_a_topic_for_each_output() -> None:
    outputs = Output("invoice", "invoices", "Bus"), Output("$return", "events", "Bus", is_topic=True)
    triggers = [Trigger("a", "orders", outputs=outputs), Trigger("b", "Invoices")]

    assert queues_of(triggers, Settings(), error_queue="error") == [ERROR, queue("orders"), queue("Invoices")]
    assert topics_of(triggers, Settings(), error_queue="error") == [Topic("events")]


def test_an_error_queue_that_is_an_output_too_forwards_nothing() -> None:
    triggers = [Trigger("a", "orders", outputs=(Output("lost", "Error", "Bus"),))]

    assert queues_of(triggers, Settings(), error_queue="error") == [ERROR, queue("orders")]
