"""SQS refuses, loses or delays the calls that settle messages: nothing is lost, and nothing runs more often than it must."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator

import pytest

from aws.failing import (
    SETTLE_WITHIN,
    A,
    B,
    Handler,
    all_done,
    any_fault,
    consequences,
    mapping,
    nothing_done,
    unrepeated,
)
from aws.harness import Mapping, ladder, sqs_endpoint, wait_for
from recoverable import Message
from recoverable_local.testing import AnswerLost, PartlyFailed, Refused, Unreachable
from servers.faulty_proxy import EmptyAnswer, Fault, FaultyProxy, Rule
from servers.queues import Queue, bodies


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture(autouse=True)
def no_body_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.INFO, logger="recoverable")
    yield
    assert "secret" not in caplog.text


@nothing_done
def test_a_copy_that_is_not_sent_leaves_its_message_to_come_back(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    failing = mapping(orders, error, handler)
    proxy.rules = [Rule("SendMessageBatch", fault)]

    reported = failing.poll()

    assert reported == [A, B]
    assert (bodies(error), proxy.calls["DeleteMessageBatch"]) == ([], 0)
    (stay,) = set(consequences(caplog))
    assert stay.startswith(
        "They stay on the queue and will be redelivered after their visibility timeout. Check Failed(error_queue)"
    )

    proxy.rules = []
    failing.expire()
    failing.run_dry()

    assert (bodies(error), handler.runs) == ([A, B], {A: 2, B: 2})


@all_done
def test_a_copy_whose_answer_is_lost_is_not_resent_and_costs_one_more_run_and_one_more_copy(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, fault: Fault
) -> None:
    failing = mapping(orders, error, handler)
    proxy.rules = [Rule("SendMessageBatch", fault, calls=(1,))]

    reported = failing.poll()

    assert (reported, dict(proxy.calls)) == ([A, B], {"SendMessageBatch": 1})

    failing.expire()
    failing.run_dry()
    wait_for(lambda: error.count() == 4)

    assert (bodies(error), handler.runs) == ([A, A, B, B], {A: 2, B: 2})


def test_of_a_batch_of_copies_only_what_failed_is_sent_again(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler
) -> None:
    failing = mapping(orders, error, handler)
    proxy.rules = [Rule("SendMessageBatch", PartlyFailed((1,)), calls=(1,))]

    reported = failing.poll()

    assert (reported, bodies(error), handler.runs) == ([], [A, B], {A: 1, B: 1})
    assert proxy.entries == {"SendMessageBatch": 3, "DeleteMessageBatch": 2}


def test_a_refused_batch_of_copies_is_resent_one_by_one(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler
) -> None:
    failing = mapping(orders, error, handler)
    proxy.rules = [Rule("SendMessageBatch", Refused("InvalidMessageContents"), calls=(1, 2))]

    reported = failing.poll()

    assert (reported, bodies(error), orders.count()) == ([], [B], 1)  # A waits on its own queue
    assert dict(proxy.calls) == {"SendMessageBatch": 4, "DeleteMessageBatch": 1}


def test_while_no_connection_is_accepted_all_that_failed_comes_back(
    orders: Queue, error: Queue, sqs: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail_one(message: Message) -> None:
        if message.text == A:
            raise ValueError("no")

    orders.send(A)
    orders.send(B)
    failing = Mapping(orders, sqs_endpoint(fail_one, ladder(error), settle_within=SETTLE_WITHIN))
    with socket.socket() as deaf:  # bound, but not listening
        deaf.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        reported = failing.poll()

    assert (reported, orders.count(), bodies(error)) == ([A], 1, [])
    assert (
        f"SQS SendMessageBatch to '{error.name}' failed for 1 messages from '{orders.name}' (EndpointConnectionError)."
        in caplog.text
    )


def test_the_log_names_the_messages_that_could_not_be_settled(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    message_id = orders.send(A)
    proxy.rules = [Rule("SendMessageBatch", Refused("RequestThrottled", status=403))]

    Mapping(orders, sqs_endpoint(handler, ladder(error))).poll()

    (record,) = [record for record in caplog.records if record.name == "recoverable.settlement"]
    assert (record.levelname, record.__dict__["message_ids"], record.__dict__["queue"]) == (
        "WARNING",
        [message_id],
        error.name,
    )
    assert "(RequestThrottled)" in record.getMessage()
    assert "Refused by the test." in record.getMessage()


def test_the_log_says_why_single_messages_of_a_call_failed(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture
) -> None:
    failing = mapping(orders, error, handler)
    proxy.rules = [
        Rule("SendMessageBatch", PartlyFailed((0,), "Overloaded"), calls=(1, 2, 3, 4)),
        Rule("SendMessageBatch", EmptyAnswer(), calls=(5,)),
    ]
    for _ in range(2):
        failing.poll()
        failing.expire()

    failed = f"SQS SendMessageBatch to '{error.name}' failed for 1 messages from '{orders.name}'"
    assert f"{failed} (Overloaded Refused by the test.)." in caplog.text
    assert f"{failed} (its answer does not name them)." in caplog.text


@any_fault
def test_a_delete_that_fails_is_left_to_the_mapping(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    failing = mapping(orders, error, handler)
    proxy.rules = [Rule("DeleteMessageBatch", fault)]

    reported = failing.poll()

    assert (reported, orders.count(), bodies(error)) == ([], 0, [A, B])
    repeated_on_a_new_connection = isinstance(fault, AnswerLost | Unreachable)
    assert dict(proxy.calls) == {"SendMessageBatch": 1, "DeleteMessageBatch": 1 + repeated_on_a_new_connection}
    left = "They are not reported as failed: the event source mapping deletes them where the role may"
    denied = "Messages that succeeded come back and do not run again in this process"
    (consequence,) = consequences(caplog)
    assert consequence.startswith(denied if "AccessDenied" in str(fault) else left)


@unrepeated
def test_an_immediate_retry_that_cannot_be_shown_again_comes_after_the_visibility_timeout(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    failing = mapping(orders, error, handler, immediate=1)
    proxy.rules = [Rule("ChangeMessageVisibilityBatch", fault)]

    reported = failing.poll()

    assert (reported, orders.count(), dict(proxy.calls)) == ([A, B], 2, {"ChangeMessageVisibilityBatch": 2})
    assert consequences(caplog) == [
        "It is repeated once.",
        "They will be redelivered after their visibility timeout, not after the delay that was decided. "
        "Check the permission sqs:ChangeMessageVisibility.",
    ]

    failing.expire()
    failing.run_dry()

    assert (bodies(error), handler.runs) == ([A, B], {A: 2, B: 2})


@unrepeated
def test_a_visibility_change_that_failed_once_is_repeated_and_nothing_waits(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Handler, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    failing = mapping(orders, error, handler, immediate=1)
    proxy.rules = [Rule("ChangeMessageVisibilityBatch", fault, calls=(1,))]

    reported = failing.poll()

    assert (reported, orders.visible(), dict(proxy.calls)) == ([A, B], 2, {"ChangeMessageVisibilityBatch": 2})
    assert consequences(caplog) == ["It is repeated once."]
