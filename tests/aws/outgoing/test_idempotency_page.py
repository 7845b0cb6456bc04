"""The examples of docs/use/idempotency.md for AWS do what the page says, on moto's SQS and DynamoDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import boto3
import pytest

from aws.harness import Context, Mapping, ladder, sqs_endpoint
from builders import Boom
from docs.pages import blocks
from recoverable import Message, RetryAfter
from servers.moto import REGION, client_at
from servers.queues import Queue, bodies

WRONG, SYNC, ASYNC = blocks("use/idempotency.md", "python")[:3]
HANDLERS = {"plain": "place_order", "coroutine": "place_order_async"}


@pytest.fixture
def page(sqs: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """Yield the page's code, with a table of its own."""
    name = f"idempotency-{uuid4().hex[:12]}"
    monkeypatch.setenv("IDEMPOTENCY_TABLE", name)
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", sqs)
    client = boto3.client("dynamodb", region_name=REGION)
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    invoices = Queue(client_at(sqs), "invoices", {})  # the page's own name, and so the same queue for each test
    yield Page(invoices)
    invoices.client.delete_queue(QueueUrl=invoices.url)
    client.delete_table(TableName=name)


class Page:
    """The page's code, and the bank that it takes for granted.

    Args:
        invoices: the queue that it sends to.
    """

    def __init__(self, invoices: Queue) -> None:
        self.invoices = invoices
        self.charged: list[Any] = []
        self.names: dict[str, Any] = {"charge": self.charge}
        for block in (SYNC, ASYNC, WRONG):
            exec(compile(block, "use/idempotency.md", "exec"), self.names)

    def charge(self, order: Any) -> Any:
        """Charge an order, and return the receipt."""
        self.charged.append(order["id"])
        return {"receipt": order["id"]}

    def serve(self, orders: Queue, error: Queue, handler: Callable[[Message], Any], **settings: Any) -> None:
        """Run the page's Lambda handler, with another handler of messages, until the queue is empty."""
        self.names["endpoint"] = sqs_endpoint(handler, ladder(error, immediate=1, delayed=1), **settings)
        Mapping(orders, self.names["lambda_handler"], contexts=lambda: Context(60)).run_dry()


def failing_once(handler: Callable[[Message], Any]) -> Callable[[Message], None]:
    """Return the handler, of which the first attempt fails at its end."""
    attempts: list[int] = []

    def handle(message: Message) -> None:
        handler(message)
        attempts.append(message.attempt)
        if len(attempts) == 1:
            raise Boom

    return handle


def failing_once_async(handler: Callable[[Message], Any]) -> Callable[[Message], Any]:
    """Return the coroutine handler, of which the first attempt fails at its end."""
    attempts: list[int] = []

    async def handle(message: Message) -> None:
        await handler(message)
        attempts.append(message.attempt)
        if len(attempts) == 1:
            raise Boom

    return handle


FAILING = {"plain": failing_once, "coroutine": failing_once_async}


@pytest.mark.parametrize("kind", HANDLERS)
def test_an_order_whose_attempt_fails_after_the_charge_is_charged_once_and_sends_once(
    orders: Queue, error: Queue, page: Page, kind: str
) -> None:
    orders.send('{"id": 1}')

    page.serve(orders, error, FAILING[kind](page.names[HANDLERS[kind]]))

    assert (page.charged, bodies(page.invoices)) == ([1], ['{"receipt": 1}'])


def test_ten_coroutines_at_once_charge_each_order_once(orders: Queue, error: Queue, page: Page) -> None:
    for number in range(10):
        orders.send(f'{{"id": {number}}}')

    page.serve(orders, error, page.names["place_order_async"], concurrency=10)

    assert (sorted(page.charged), len(bodies(page.invoices))) == ([*range(10)], 10)


def test_a_message_that_is_sent_inside_is_lost_when_its_attempt_fails(orders: Queue, error: Queue, page: Page) -> None:
    def place_order(message: Message) -> None:
        page.names["charge_and_send"](message=message, message_id=message.id)

    orders.send('{"id": 1}')

    page.serve(orders, error, failing_once(place_order))

    assert (page.charged, bodies(page.invoices), error.count()) == ([1], [], 0)


def test_while_another_attempt_is_at_work_it_waits_and_takes_a_delayed_retry(
    page: Page, orders: Queue, error: Queue
) -> None:
    waits: list[Any] = []

    def charge(order: Any) -> Any:
        """Let the same message come a second time while the first attempt charges."""
        if not waits:
            waits.append(None)
            with pytest.raises(RetryAfter) as caught:
                page.names["place_order"](
                    Message('{"id": 1}', id=page.names["current"], headers={}, attempt=1, round=0, queue="orders")
                )
            waits.append(caught.value.delay)
        return page.charge(order)

    def handle(message: Message) -> None:
        page.names["current"] = message.id
        page.names["place_order"](message)

    page.names["charge"] = charge
    orders.send('{"id": 1}')
    page.serve(orders, error, handle)

    assert (waits[1:], page.charged) == ([timedelta(minutes=1)], [1])
