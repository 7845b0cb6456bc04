"""Test the timeouts queue: NServiceBus's headers say what is due when, for whom, and what is no longer wanted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from builders import written
from recoverable import Immediate, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import Store, TimeoutsQueue
from waiting.world import HOUR, MINUTE, Shop

EXPIRE = "NServiceBus.Timeout.Expire"
ROUTE_TO = "NServiceBus.Timeout.RouteExpiredTimeoutTo"
SAGA = "NServiceBus.SagaId"
TIMEOUTS = "shop-Timeouts"


@pytest.fixture
def shop(local_store: Store) -> Shop:
    """Return a shop that has a timeouts queue, and whose orders stay where they are."""
    shop = Shop(local_store, queues=("orders", TIMEOUTS, "error"), receiving=False)
    no_retries = Recoverability(immediate=Immediate(0))
    shop.world.serve(TIMEOUTS, SqsEndpoint(TimeoutsQueue(shop.timeouts), no_retries))
    return shop


def tell(shop: Shop, headers: Mapping[str, str], *, wrapped: bool = False) -> str:
    """Send a message to the timeouts queue, as NServiceBus's transport does."""
    if wrapped:
        return shop.world.send(TIMEOUTS, {"Headers": headers, "Body": "aGVsbG8="})
    attributes: dict[str, Any] = {"NServiceBus.AmazonSQS.Headers": json.dumps(headers)}
    return shop.world.send(TIMEOUTS, "hello", attributes=attributes)


def arrivals(shop: Shop) -> list[Any]:
    """Return what is in the orders queue once its time has come."""
    return shop.world.queue("orders")


def in_(shop: Shop, delay: timedelta) -> dict[str, str]:
    """Return the headers of a timeout for the orders queue."""
    return {EXPIRE: written(shop.now() + delay), ROUTE_TO: "orders", "NServiceBus.MessageId": "m-1"}


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_timeout_comes_to_its_destination_when_it_expires(shop: Shop, *, wrapped: bool) -> None:
    due = shop.now() + HOUR
    tell(shop, in_(shop, HOUR) | {"mine": "yes"}, wrapped=wrapped)
    shop.run_each_minute(HOUR + MINUTE)

    [message] = arrivals(shop)
    assert (message.body, message.id, message.visible_at) == ("hello", "m-1", due)
    assert {name: message.headers[name] for name in ("mine", "NServiceBus.TimeSent")} == {
        "mine": "yes", "NServiceBus.TimeSent": written(due),
    }  # fmt: skip
    assert message.headers["NServiceBus.RelatedToTimeoutId"].startswith(str(int(due.timestamp())))
    assert not {EXPIRE, ROUTE_TO} & set(message.headers)


def test_what_is_due_already_goes_on_at_once(shop: Shop) -> None:
    tell(shop, in_(shop, -HOUR))
    shop.world.run(for_=MINUTE)

    assert len(arrivals(shop)) == 1


def test_without_a_destination_it_comes_back_to_its_sender(shop: Shop) -> None:
    tell(shop, {EXPIRE: written(shop.now()), "NServiceBus.ReplyToAddress": "orders"})
    shop.world.run(for_=MINUTE)

    assert len(arrivals(shop)) == 1


def test_a_destination_is_named_as_nservicebus_names_it(shop: Shop) -> None:
    shop.world.create_queue("shop-orders")
    tell(shop, in_(shop, HOUR) | {ROUTE_TO: "shop.orders"})
    shop.run_each_minute(2 * HOUR)

    assert shop.bodies("shop-orders") == ["hello"]


def test_a_message_that_is_delivered_twice_is_one_timeout(shop: Shop) -> None:
    for _ in range(2):
        tell(shop, in_(shop, HOUR))
    shop.run_each_minute(2 * HOUR)

    assert len(arrivals(shop)) == 1


def test_a_saga_that_has_ended_clears_its_timeouts(shop: Shop) -> None:
    tell(shop, in_(shop, HOUR) | {SAGA: "saga-1"})
    tell(shop, {**in_(shop, HOUR), "NServiceBus.MessageId": "m-2", SAGA: "saga-2"})
    shop.world.run(for_=MINUTE)
    tell(shop, {"NServiceBus.ControlMessage": "True", "NServiceBus.ClearTimeouts": "True", SAGA: "saga-1"})
    shop.run_each_minute(2 * HOUR)

    assert [message.id for message in arrivals(shop)] == ["m-2"]


FAR = "2030-01-01 00:00:00:000000 Z"

WRONG: list[dict[str, str]] = [
    {},
    {ROUTE_TO: "orders"},
    {ROUTE_TO: "orders", EXPIRE: "tomorrow"},
    {ROUTE_TO: "orders", EXPIRE: "2287-01-01 00:00:00:000000 Z"},
    {ROUTE_TO: "orders", EXPIRE: "2030-13-01 00:00:00:000000 Z"},
    {ROUTE_TO: " ", EXPIRE: "2030-01-01 00:00:00:000000 Z"},
    {ROUTE_TO: "orders", EXPIRE: "9999-12-31 23:59:59:999999 Z"},
    {ROUTE_TO: "orders", EXPIRE: "2030-01-01T00:00:00Z"},
    {ROUTE_TO: "arn:aws:sns:eu-west-1:123456789012:orders", EXPIRE: FAR},
    {ROUTE_TO: "arn:aws:sqs:::orders", EXPIRE: FAR},
    {ROUTE_TO: "https://", EXPIRE: FAR},
    {ROUTE_TO: "o" * 81, EXPIRE: FAR},
    {ROUTE_TO: ".fifo", EXPIRE: FAR},
    {ROUTE_TO: "orders", EXPIRE: FAR, SAGA: "s" * 2_001},
    {"NServiceBus.ClearTimeouts": "True"},
    {"NServiceBus.ClearTimeouts": "True", SAGA: "s" * 2_001},
]


@pytest.mark.parametrize("headers", WRONG, ids=lambda headers: str(headers)[:120])
def test_what_is_no_timeout_goes_to_the_error_queue_at_once(shop: Shop, headers: dict[str, str]) -> None:
    tell(shop, headers)
    shop.world.run(for_=MINUTE)

    [failed] = shop.world.queue("error")
    assert (failed.exception_type, failed.failed_queue) == ("recoverable.MessageDeserializationError", TIMEOUTS)
    assert (failed.exception_message or "").startswith("no timeout: ")


def test_an_empty_message_is_one_that_sqs_takes(shop: Shop) -> None:
    headers = {**in_(shop, HOUR), "NServiceBus.ControlMessage": "True"}
    shop.world.send(TIMEOUTS, {"Headers": headers, "Body": "empty message"})
    shop.run_each_minute(2 * HOUR)

    [message] = arrivals(shop)
    assert message.body == "empty message"


def test_a_moment_is_read_to_the_microsecond(shop: Shop) -> None:
    due = datetime.fromisoformat("2026-01-02T03:04:05.678901+00:00")
    tell(shop, {**in_(shop, HOUR), EXPIRE: "2026-01-02 03:04:05:678901 Z"})
    shop.run_each_minute(30 * HOUR)

    [message] = arrivals(shop)
    assert timedelta(0) <= message.visible_at - due < timedelta(seconds=1)
