"""A handler that waits in C code, where no signal stops it, on this process's main thread and against a real SQS API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest

from aws.harness import Countdown, Mapping, ladder, sqs_endpoint, wait_for
from aws.managed.c_lock import CLock
from recoverable import Message
from servers.queues import Queue, bodies

TIME = 3.0
"""Seconds of an invocation; a handler is asked to end after half of it, and others are settled after three quarters."""


@pytest.fixture(autouse=True)
def on_managed_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what Lambda sets there."""
    monkeypatch.setenv("AWS_LAMBDA_MAX_CONCURRENCY", "4")


@contextmanager
def released_when_settled(lock: CLock, orders: Queue) -> Iterator[list[int]]:
    """Release the lock once one message is deleted and another one waits in the queue; yield how many were visible then."""
    visible: list[int] = []

    def watch() -> None:
        try:
            wait_for(lambda: orders.count() == 2 and orders.visible() == 1)
            visible.append(orders.visible())
        finally:
            lock.release()

    thread = Thread(target=watch)
    thread.start()
    yield visible
    thread.join()


def test_neighbours_are_settled_while_a_handler_waits_in_c_and_its_message_stays_hidden(
    orders: Queue, error: Queue
) -> None:
    lock = CLock()

    def handle(message: Message) -> None:
        if message.text == "hangs":
            lock.wait()

    for body in ("before", "hangs", "after"):
        orders.send(body)
    settings: dict[str, Any] = {"settle_within": timedelta(seconds=TIME / 2), "visibility_timeout": None}
    endpoint = sqs_endpoint(handle, ladder(error), **settings)

    with released_when_settled(lock, orders) as visible:
        Mapping(orders, endpoint, contexts=lambda: Countdown(TIME)).poll()

    assert (visible, bodies(orders), bodies(error)) == ([1], ["after", "hangs"], [])
