"""Queues are reached by name, ARN or URL without asking SQS where they are."""

from __future__ import annotations

import sys

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from aws.records import event, record
from recoverable import Message
from recoverable._sqs.clients import session
from servers.faulty_proxy import FaultyProxy
from servers.queues import Queue


def fail(message: Message) -> None:
    raise ValueError(message.id)


@pytest.mark.parametrize("named", ["name", "arn"])
def test_the_whole_ladder_makes_no_call_but_to_send_to_show_again_and_to_delete(
    orders: Queue, error: Queue, proxy: FaultyProxy, named: str
) -> None:
    orders.send("hello")
    endpoint = sqs_endpoint(fail, ladder(getattr(error, named), immediate=1, delayed=1))

    Mapping(orders, endpoint).run_dry()

    assert [copy.body for copy in error.arrived()] == ["hello"]
    assert proxy.calls == {"ChangeMessageVisibilityBatch": 2, "SendMessageBatch": 2, "DeleteMessageBatch": 2}


def test_a_url_is_called_as_it_is_given(orders: Queue, error: Queue, proxy: FaultyProxy) -> None:
    orders.send("hello")
    url = error.url.replace(f"http://{proxy.upstream}", proxy.url)

    Mapping(orders, sqs_endpoint(fail, ladder(url))).run_dry()

    (copy,) = error.arrived()
    assert (copy.body, copy.headers["NServiceBus.FailedQ"]) == ("hello", orders.name)
    assert proxy.calls == {"SendMessageBatch": 1, "DeleteMessageBatch": 1}


def test_where_boto3_is_missing_the_log_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session.cache_clear()  # the process's own, for which boto3 is imported
    monkeypatch.setitem(sys.modules, "boto3", None)
    elsewhere = record(arn="arn:aws:sqs:sa-east-1:123456789012:orders")

    answer = sqs_endpoint(fail, ladder("error"))(event(elsewhere))

    assert answer == {"batchItemFailures": [{"itemIdentifier": "native-1"}]}
    assert "Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'" in caplog.text
