"""Batches of a standard queue: whatever ends how, and wherever, each handler runs once and what failed is settled."""

from __future__ import annotations

import gc
import logging
import weakref
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from aws.harness import Context, ladder, sqs_endpoint
from aws.recording_client import RecordingClient
from aws.records import event, record
from builders import Boom
from recoverable import Immediate, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint

BODIES = ("a", "b", "c", "d")


class Orders:
    """A handler that notes its messages and what it still holds, and fails at some of them or sends at others."""

    def __init__(self, fails: str = "", sends: str = "") -> None:
        self.fails, self.sends = fails, sends
        self.seen: list[str] = []
        self.raised: list[weakref.ref[BaseException]] = []

    def __call__(self, message: Message) -> None:
        self.seen.append(message.text)
        if message.text in self.sends:
            message.send("invoices", message.text)
        if message.text in self.fails:
            raise self._noted(Boom(message.text))

    def _noted(self, error: BaseException) -> BaseException:
        self.raised.append(weakref.ref(error))
        return error


def batch() -> dict[str, Any]:
    return event(*(record(body, message_id=body) for body in BODIES))


def handled(
    orders: Orders, settings: Recoverability | None = None, **more: Any
) -> tuple[list[str], list[str], list[str]]:
    """Return the bodies that were sent anywhere, the receipts that were deleted, and the ids that are reported."""
    client = RecordingClient()
    answer = sqs_endpoint(orders, settings or ladder("error"), client=client.as_client(), **more)(batch(), Context())
    reported = [each["itemIdentifier"] for each in answer["batchItemFailures"]]
    return [each["MessageBody"] for each in client.sent], sorted(client.deleted), reported


@pytest.mark.parametrize("fails", ["", "a", "b", "d", "ab", "ad", "bc", "abcd"])
def test_each_handler_runs_once_and_what_failed_is_moved(fails: str) -> None:
    orders = Orders(fails)

    moved, deleted, reported = handled(orders)

    assert orders.seen == list(BODIES)
    assert (moved, deleted, reported) == (list(fails), [f"handle-of-{each}" for each in fails], [])


@pytest.mark.parametrize("sends", ["a", "c", "abcd"])
@pytest.mark.parametrize("fails", ["", "a", "b", "d"])
def test_what_a_handler_sends_leaves_only_when_it_has_succeeded(fails: str, sends: str) -> None:
    orders = Orders(fails, sends)

    sent, deleted, reported = handled(orders)

    assert orders.seen == list(BODIES)
    assert sorted(sent) == sorted([*fails, *(each for each in sends if each not in fails)])
    assert (deleted, reported) == ([f"handle-of-{each}" for each in fails], [])


@pytest.mark.parametrize(
    "settings",
    [{}, {"rate_limit": RateLimit(20)}, {"immediate": Immediate(0, in_process=True)}],
    ids=["plain", "limited", "in process"],
)
@pytest.mark.parametrize("more", [{}, {"handler_timeout": timedelta(seconds=9)}, {"partial_responses": True}])
def test_a_batch_ends_alike_whatever_else_is_set(settings: dict[str, Any], more: dict[str, Any]) -> None:
    orders = Orders("b")
    with_settings = ladder("error").__replace__(**settings)

    assert handled(orders, with_settings, **more) == (["b"], ["handle-of-b"], [])
    assert orders.seen == list(BODIES)


@pytest.mark.parametrize("change", ["clear", "pop", "reverse"])
@pytest.mark.parametrize("fails", ["", "c"])
def test_what_happens_to_the_event_while_handlers_run_changes_nothing(change: str, fails: str) -> None:
    arrived, orders = batch(), Orders(fails)

    def handle(message: Message) -> None:
        if message.text == "a":
            getattr(arrived["Records"], change)()
        orders(message)

    client = RecordingClient()
    answer = sqs_endpoint(handle, ladder("error"), client=client.as_client())(arrived, Context())

    assert (orders.seen, client.deleted) == (list(BODIES), [f"handle-of-{each}" for each in fails])
    assert answer == {"batchItemFailures": []}


@pytest.mark.parametrize("deliveries", [1, 2])
def test_what_is_whole_is_taken_at_each_delivery_whatever_it_says_of_its_source(deliveries: int) -> None:
    forwarded, orders = {**record("a", deliveries=deliveries), "eventSource": "aws:sns"}, Orders()

    assert sqs_endpoint(orders, ladder("error"))(event(forwarded), Context()) == {"batchItemFailures": []}
    assert orders.seen == ["a"]


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Nothing is collected but what nobody refers to; logging, which keeps exceptions in a test, is off."""
    logging.disable()
    gc.disable()
    yield
    gc.enable()
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("fails", ["a", "d", "abcd"])
@pytest.mark.usefixtures("no_collector")
def test_a_failed_batch_leaves_nothing_to_the_garbage_collector(fails: str) -> None:
    orders = Orders(fails)

    handled(orders)

    assert [each() for each in orders.raised] == [None] * len(fails)


@pytest.mark.usefixtures("no_collector")
def test_a_batch_that_succeeds_is_freed_at_once() -> None:
    sqs_endpoint(lambda _: None, ladder("error"))(event(record(message_id="is freed")), Context())

    assert [each for each in gc.get_objects() if isinstance(each, Message) and each.id == "is freed"] == []


def test_an_endpoint_without_a_context_has_no_time_limit() -> None:
    seen: list[str] = []

    def handle(message: Message) -> None:
        seen.append(message.text)

    assert SqsEndpoint(handle, ladder("error"))(batch()) == {"batchItemFailures": []}
    assert seen == list(BODIES)
