"""A call to SQS ends in the time that is kept for it, whatever hangs: the name look-up, one address after the other, or the answer.

The process's own client connects over loopback; what hangs does so until the test is over.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest

from aws.harness import Context, Mapping, ladder, wait_for
from recoverable import Message
from recoverable.aws import SqsEndpoint
from servers.queues import Queue, bodies

SOON, AMPLE = timedelta(seconds=0.4), timedelta(seconds=4)  # of which a call gets half
HOST = "sqs.hangs.test"
NO_ANSWER = "(no answer in the time that is kept for it; SQS may still do it)."


def fail(message: Message) -> None:
    raise ValueError("no")


def settled_at(url: str, orders: Queue, error: Queue, monkeypatch: pytest.MonkeyPatch) -> list[str] | None:
    """Have a failed message moved to the error queue by a client for this URL, and return the bodies that were reported."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", url)
    orders.send("hello")
    return Mapping(orders, SqsEndpoint(fail, ladder(error), settle_within=SOON), contexts=lambda: Context(30)).poll()


def mapping_at(port: int, orders: Queue, error: Queue, monkeypatch: pytest.MonkeyPatch) -> Mapping:
    """Send a message that fails, and return a mapping whose client looks up the host at each connection."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"http://{HOST}:{port}")
    orders.send("hello")
    return Mapping(orders, SqsEndpoint(fail, ladder(error), settle_within=AMPLE), contexts=lambda: Context(30))


def port_of(url: str) -> int:
    """Return the port of a server's URL."""
    return int(url.rpartition(":")[2])


def address_of(url: str) -> list[Any]:
    """Return what a look-up answers for a server on loopback."""
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port_of(url)))]


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, logger="recoverable.settlement")
    return caplog


@pytest.fixture
def over() -> Iterator[Event]:
    """Yield an event that is set when the test is over."""
    event = Event()
    yield event
    event.set()


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Return a function that has the look-up of one name answered by another function."""
    real = socket.getaddrinfo

    def answer(by: Callable[[], Any]) -> None:
        def look_up(host: Any, *others: Any, **more: Any) -> Any:
            return by() if host == HOST else real(host, *others, **more)

        monkeypatch.setattr(socket, "getaddrinfo", look_up)

    return answer


@pytest.fixture
def unreachable() -> Iterator[list[tuple[str, int]]]:
    """Yield addresses to which a connection is neither accepted nor refused: sockets that listen, whose queue is full."""
    with ExitStack() as stack:
        port, addresses = 0, []
        for last in range(1, 13):
            listening = stack.enter_context(socket.socket())
            listening.bind((f"127.0.0.{last}", port))
            listening.listen(0)
            port = listening.getsockname()[1]
            for _ in range(3):
                waiting = stack.enter_context(socket.socket())
                waiting.settimeout(0)
                waiting.connect_ex(listening.getsockname())
            addresses.append(listening.getsockname())
        yield addresses


@pytest.fixture
def dripping(over: Event) -> Iterator[str]:
    """Yield the URL of a server that answers a byte at a time, and never comes to an end."""

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(ConnectionError):  # the client has given up
            while not over.wait(0.02):
                connection.sendall(b"H")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        over.set()


def test_a_look_up_that_hangs_leaves_the_message_on_its_queue(
    orders: Queue, error: Queue, over: Event, resolve: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    resolve(over.wait)

    assert settled_at(f"http://{HOST}", orders, error, monkeypatch) == ["hello"]
    assert (NO_ANSWER in caplog.text, orders.count(), bodies(error)) == (True, 1, [])


def test_many_addresses_share_the_time_of_one_call(
    orders: Queue, error: Queue, unreachable: Any, resolve: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in unreachable]
    resolve(lambda: found)

    assert settled_at(f"http://{HOST}", orders, error, monkeypatch) == ["hello"]
    assert NO_ANSWER in caplog.text


def test_an_answer_that_never_ends_is_not_waited_for(
    orders: Queue, error: Queue, dripping: str, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    assert settled_at(dripping, orders, error, monkeypatch) == ["hello"]
    assert NO_ANSWER in caplog.text


def test_an_endpoint_that_accepts_and_never_answers_leaves_the_message_on_its_queue(
    orders: Queue, error: Queue, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        reported = settled_at(f"http://127.0.0.1:{silent.getsockname()[1]}", orders, error, monkeypatch)

    assert (reported, orders.count(), bodies(error)) == (["hello"], 1, [])
    assert "They stay on the queue and will be redelivered after their visibility timeout." in caplog.text


def test_a_look_at_the_queue_that_hangs_does_not_hold_up_the_next_call(
    orders: Queue, error: Queue, sqs: str, over: Event, resolve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping = mapping_at(port_of(sqs), orders, error, monkeypatch)
    first = iter([over.wait])
    resolve(lambda: next(first, lambda: None)() or address_of(sqs))

    assert (mapping.poll(), bodies(error)) == ([], ["hello"])


def test_a_call_that_was_given_up_and_succeeds_later_costs_one_more_run_and_one_more_copy(
    orders: Queue, error: Queue, sqs: str, over: Event, resolve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping = mapping_at(port_of(sqs), orders, error, monkeypatch)
    resolve(lambda: over.wait() and address_of(sqs))

    assert mapping.poll() == ["hello"]

    over.set()
    wait_for(lambda: error.count() == 1)
    mapping.expire()
    mapping.run_dry()

    assert bodies(error) == ["hello", "hello"]
