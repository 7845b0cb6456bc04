"""The example of docs/use/idempotency.md for Azure does what the page says, on Azurite's table and the emulated Service Bus."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from azure.core.exceptions import ResourceModifiedError
from azure.data.tables import TableClient

from azure.namespace import INVOICES, Bus
from builders import ERROR_QUEUE, QUEUE, Boom, recoverability, seconds
from docs.pages import blocks
from recoverable import Message, RetryAfter
from recoverable.azure import ServiceBusEndpoint

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("azurite")]

ONCE, HANDLER = blocks("use/idempotency.md", "python")[3:]
ORDER = Message('{"id": 1}', "order-1")


class Page:
    """The page's code with a table of its own, and the bank that it takes for granted."""

    def __init__(self, table: TableClient) -> None:
        self.charged: list[Any] = []
        self.names: dict[str, Any] = {"charge": self.charge, "table": table}
        self.failures = 0
        for block in (ONCE, HANDLER):
            exec(compile(block, "use/idempotency.md", "exec"), self.names)

    def charge(self, order: Any) -> Any:
        """Charge an order and return the receipt, or fail as often as set."""
        if self.failures:
            self.failures -= 1
            raise Boom
        self.charged.append(order["id"])
        return {"receipt": order["id"]}

    def once(self, function: Any) -> Any:
        """Call the page's function for the order."""
        return self.names["once"](self.names["table"], "charges", ORDER, function)


@pytest.fixture
def page(azurite: str) -> Page:
    """Return the page's code."""
    table = TableClient.from_connection_string(azurite, f"idempotency{uuid4().hex}")
    table.create_table()
    return Page(table)


def test_an_order_whose_attempt_fails_after_the_charge_is_charged_once_and_sends_once(bus: Bus, page: Page) -> None:
    attempts: list[int] = []

    def place_order(message: Message) -> None:
        page.names["place_order"](message)
        attempts.append(message.attempt)
        if len(attempts) == 1:
            raise Boom

    settings = recoverability(1, 1, time_increase=seconds(0), error_queue=ERROR_QUEUE)
    endpoint = ServiceBusEndpoint(place_order, settings, queue=QUEUE, connection="ServiceBus")
    bus.send('{"id": 1}')
    bus.serve(endpoint, lambda: bus.seen(INVOICES))

    assert (attempts, page.charged) == ([1, 2], [1])
    assert [sent.body for sent in bus.seen(INVOICES)] == [b'{"receipt": 1}']


def test_the_stored_result_is_returned_to_later_attempts(page: Page) -> None:
    results = [page.once(lambda: page.charge({"id": 1})) for _ in range(3)]

    assert (results, page.charged) == ([{"receipt": 1}] * 3, [1])


def test_what_failed_is_done_by_the_next_attempt(page: Page) -> None:
    page.failures = 1

    with pytest.raises(Boom):
        page.once(lambda: page.charge({"id": 1}))

    assert (page.once(lambda: page.charge({"id": 1})), page.charged) == ({"receipt": 1}, [1])


def test_an_attempt_beside_another_one_waits_until_that_must_have_ended(page: Page) -> None:
    def both() -> Any:
        with pytest.raises(RetryAfter) as waits:
            page.once(lambda: page.charge({"id": 1}))
        return waits.value.delay.total_seconds()

    assert 290 < page.once(both) <= 300  # five minutes
    assert page.charged == []


def test_what_a_dead_process_began_is_done_once_its_time_is_over_and_its_late_answer_is_refused(page: Page) -> None:
    def slow() -> Any:
        page.names["LONGEST_RUN"] = timedelta(0)  # the time is over
        page.once(lambda: page.charge({"id": 1}))
        return "too late"

    with pytest.raises(ResourceModifiedError):
        page.once(slow)

    assert (page.once(slow), page.charged) == ({"receipt": 1}, [1])
