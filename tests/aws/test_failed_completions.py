"""SQS does not delete, or does not show again: nothing is lost and nothing runs once more than it must."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from aws.failing import A, B, Handler, any_fault, bodies, mapping, told
from aws.faulty_proxy import Fault, FaultyProxy, Rule
from aws.queues import Queue


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture(autouse=True)
def no_body_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.INFO, logger="recoverable")
    yield
    assert "secret" not in caplog.text


@any_fault
def test_a_delete_that_fails_is_left_to_the_mapping(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    failing = mapping(orders, error, handler)
    proxy.rules = [Rule("DeleteMessageBatch", fault)]

    reported = failing.poll()

    assert (reported, orders.count(), bodies(error)) == ([], 0, [A, B])
    assert dict(proxy.calls) == {"SendMessageBatch": 1, "DeleteMessageBatch": 1}
    assert told(caplog) == [
        "They are not reported as failed: the event source mapping deletes them, or they are redelivered if the invocation fails. "
        "Check the permission sqs:DeleteMessage."
    ]


@any_fault
def test_an_immediate_retry_that_cannot_be_shown_again_comes_after_the_visibility_timeout(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    failing = mapping(orders, error, handler, immediate=1)
    proxy.rules = [Rule("ChangeMessageVisibilityBatch", fault)]

    reported = failing.poll()

    assert (reported, orders.count(), dict(proxy.calls)) == ([A, B], 2, {"ChangeMessageVisibilityBatch": 1})
    assert told(caplog) == [
        "They will be redelivered after their visibility timeout, not after the delay that was decided. Check the permission sqs:ChangeMessageVisibility."
    ]

    failing.expire()
    failing.run_dry()

    assert (bodies(error), handler.runs) == ([A, B], {A: 2, B: 2})
