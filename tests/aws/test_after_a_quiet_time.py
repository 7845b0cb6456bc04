"""After a quiet time an endpoint settles and sends as on a busy day: what had forgotten its connections costs no attempt, no run and no wait."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from recoverable import Message
from recoverable._sqs.clients import IDLE, RenewingClient, given_client
from servers.faulty_proxy import FaultyProxy
from servers.fixtures import NewQueue
from servers.moto import client_at
from servers.queues import Queue, bodies, send

SECONDS = (0.0, IDLE + 1)
"""How long it was quiet: too short for the gateway to renew the connection, and longer."""

FAILURE_CALLS = {"SendMessageBatch": 1, "DeleteMessageBatch": 1}


class Quiet:
    """A function that has failed once, and since then did nothing for a while, in which its connections were forgotten.

    Args:
        queue: its queue.
        error: its error queue.
        to: where it sends, if the body says "good".
        proxy: before SQS.
        seconds: how long it was quiet.
        given: True if its client is the user's.
    """

    def __init__(
        self, queue: Queue, error: Queue, to: Queue, proxy: FaultyProxy, seconds: float, *, given: bool = False
    ) -> None:
        self.runs: list[str] = []
        now = [0.0]
        client = client_at(proxy.url)
        own = given_client(client) if given else RenewingClient(client, clock=lambda: now[0])

        def handle(message: Message) -> None:
            self.runs.append(message.text)
            if message.text.startswith("bad"):
                raise ValueError("no")
            message.send(to.name, message.text)

        self._queue, self._mapping = queue, Mapping(queue, sqs_endpoint(handle, ladder(error), client=own))
        self.deliver("bad 0")
        assert bodies(error) == ["bad 0"]
        proxy.forget()
        proxy.calls.clear()
        now[0] += seconds
        self.runs.clear()

    def deliver(self, *sent: str) -> list[str] | None:
        """Have messages delivered once; return those that were reported as failed."""
        send(self._queue, *sent)
        return self._mapping.poll()


@pytest.fixture
def invoices(new_queue: NewQueue) -> Queue:
    return new_queue("invoices")


@pytest.fixture(params=[(seconds, given) for seconds in SECONDS for given in (False, True)], ids=str)
def quiet(
    request: pytest.FixtureRequest, orders: Queue, error: Queue, invoices: Queue, proxy: FaultyProxy
) -> Callable[[], Quiet]:
    seconds, given = request.param
    return lambda: Quiet(orders, error, invoices, proxy, seconds, given=given)


def test_a_failed_message_is_moved_at_once(quiet: Callable[[], Quiet], error: Queue, proxy: FaultyProxy) -> None:
    function = quiet()

    assert function.deliver("bad") == []
    assert (function.runs, bodies(error), dict(proxy.calls)) == (["bad"], ["bad"], FAILURE_CALLS)


def test_ten_that_fail_together_are_moved_at_once(quiet: Callable[[], Quiet], error: Queue, proxy: FaultyProxy) -> None:
    function, ten = quiet(), [f"bad {number}" for number in range(10)]

    assert function.deliver(*ten) == []
    assert (sorted(function.runs), bodies(error), dict(proxy.calls)) == (ten, ten, FAILURE_CALLS)


def test_a_handler_that_succeeded_and_sends_runs_once_and_sends_once(
    quiet: Callable[[], Quiet], orders: Queue, invoices: Queue, proxy: FaultyProxy
) -> None:
    function = quiet()

    assert function.deliver("good") == []
    assert (function.runs, bodies(invoices), orders.count()) == (["good"], ["good"], 0)
    assert dict(proxy.calls) == {"SendMessageBatch": 1}
