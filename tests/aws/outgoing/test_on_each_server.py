"""What the page on sending promises first, on each local SQS: 24 attempts send once or never, and ten messages that send ten each cost ten calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aws.harness import Context, Mapping, ladder, sqs_endpoint
from aws.outgoing.test_sending import Billing
from aws.records import event, received
from recoverable import Message
from servers.faulty_proxy import FaultyProxy
from servers.fixtures import NewQueue, pointing_at
from servers.ministack import running_cloud
from servers.queues import Queue, bodies

SERVERS = ["moto", pytest.param("ministack", marks=[pytest.mark.slow, pytest.mark.xdist_group("ministack")])]


@pytest.fixture(scope="module")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the URL of another SQS than moto's."""
    with running_cloud(tmp_path_factory.mktemp("ministack") / "log") as cloud:
        yield cloud.url


@pytest.fixture(params=SERVERS)
def sqs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URL of each local SQS."""
    yield from pointing_at(request.getfixturevalue(request.param), monkeypatch)


@pytest.fixture
def invoices(new_queue: NewQueue) -> Queue:
    """Return a queue that handlers send to."""
    return new_queue("invoices")


def test_a_ladder_of_24_attempts_of_which_the_last_succeeds_sends_once(
    orders: Queue, error: Queue, invoices: Queue
) -> None:
    billing = Billing(invoices, failures=23)
    orders.send("order 1")

    Mapping(orders, sqs_endpoint(billing, ladder(error, immediate=5, delayed=3))).run_dry()

    assert (billing.attempts, bodies(invoices), error.count()) == (24, ["invoice for order 1"], 0)


def test_a_ladder_of_24_attempts_that_fail_sends_nothing(orders: Queue, error: Queue, invoices: Queue) -> None:
    billing = Billing(invoices, failures=24)
    orders.send("order 1")

    Mapping(orders, sqs_endpoint(billing, ladder(error, immediate=5, delayed=3))).run_dry()

    assert (billing.attempts, bodies(invoices), bodies(error)) == (24, [], ["order 1"])


def test_ten_messages_that_send_ten_each_cost_ten_calls(
    orders: Queue, error: Queue, invoices: Queue, proxy: FaultyProxy
) -> None:
    def bill(message: Message) -> None:
        for number in range(10):
            message.send(invoices.name, f"{message.text}/{number}")

    for number in range(10):
        orders.send(str(number))
    batch = event(*(received(each, orders.arn) for each in orders.receive()))

    answer = sqs_endpoint(bill, ladder(error))(batch, Context())

    assert (answer, proxy.calls) == ({"batchItemFailures": []}, {"SendMessageBatch": 10})
    assert bodies(invoices) == [f"{message}/{number}" for message in range(10) for number in range(10)]
