"""Test a host from start to stop: the embedded broker, its queues, a broker that ends, and what remains after the stop."""

from __future__ import annotations

import socket
import threading
from base64 import b64encode
from datetime import timedelta
from pathlib import Path

import pytest

from deadlines import WHOLE_RUN
from local.lambda_host.conftest import Start
from local.lambda_host.processes import is_alive
from local.lambda_host.templates import document, written
from recoverable_local.lambda_host import BrokerTrouble, Depth, Ended, Entry, Invoked, LocalAws
from recoverable_local.lambda_host.services.broker import embedded_broker
from servers.starting import free_port

pytestmark = pytest.mark.slow


def pids(seen: list[Entry]) -> set[int]:
    return {entry.pid for entry in seen if isinstance(entry, Invoked)}


def listens(url: str) -> bool:
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def test_leaving_kills_the_instances_ends_the_threads_and_closes_the_ports(tmp_path: Path, stack_name: str) -> None:
    seen: list[Entry] = []
    threads = set(threading.enumerate())
    path = written(tmp_path, document(event={"BatchSize": 1}))
    with LocalAws.from_template(path, observe=seen.append, stack_name=stack_name) as host:
        url = host.endpoint_url
        host.send("orders", {"do": "sleep"})
        host.run_until(lambda: len(pids(seen)) == 1, deadline=WHOLE_RUN)
        host.send("orders", {"do": "succeed"})
        host.run_until(lambda: any(isinstance(entry, Ended) for entry in seen), deadline=WHOLE_RUN)
        was_open = listens(url)

    alive = [is_alive(pid) for pid in pids(seen)]
    assert (was_open, listens(url), alive) == (True, False, [False, False])
    left = [
        thread
        for thread in set(threading.enumerate()) - threads
        if thread.is_alive() and "process_request" not in thread.name
    ]
    assert left == []


def test_the_queues_of_an_embedded_broker_go_with_it(tmp_path: Path, stack_name: str) -> None:
    path = written(tmp_path, document())
    for _ in range(2):
        with LocalAws.from_template(path, stack_name=stack_name) as host:
            assert host.queue("errors").depth() == Depth(visible=0, in_flight=0, delayed=0)
            host.send("errors", "left behind")


def test_a_port_that_is_taken_is_said_at_once() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="in use"),
        embedded_broker(taken.getsockname()[1]),
    ):
        pass


def test_polling_goes_on_when_the_broker_is_back(start: Start) -> None:
    port = free_port()
    with embedded_broker(port) as url:
        running = start(settings={"endpoint_url": url})
    running.until(lambda: running.all(BrokerTrouble))

    with embedded_broker(port):
        order = running.send("succeed")
        (entry,) = running.ended(1)

    assert entry.completed == (order,)
    assert running.all(BrokerTrouble)[0].call == "ReceiveMessage"


def test_a_queue_shows_its_messages_and_keeps_them(start: Start) -> None:
    errors = start().host.queue("errors")
    for number in range(12):
        errors.send(str(number), attributes={"tenant": "blue", "picture": b"\x01"})

    looks = [sorted(int(message.body) for message in errors.messages()) for _ in range(2)]

    assert looks == [list(range(12))] * 2
    assert errors.messages()[0].attributes == {"tenant": "blue", "picture": b"\x01"}
    assert errors.depth() == Depth(visible=12, in_flight=0, delayed=0)


def test_a_queue_shows_headers_and_text_of_an_error_copy_that_is_in_the_wrapper(start: Start) -> None:
    errors = start().host.queue("errors")
    errors.send(
        {"Body": b64encode(b"kill").decode(), "Headers": {"Recoverable.Native": "1", "NServiceBus.MessageId": "7"}}
    )

    (seen,) = errors.messages()

    assert (seen.body, seen.headers) == ("kill", {"NServiceBus.MessageId": "7"})


def test_a_delayed_message_is_counted_as_delayed(start: Start) -> None:
    errors = start().host.queue("errors")
    errors.send("later", delay=timedelta(seconds=60))

    assert errors.depth() == Depth(visible=0, in_flight=0, delayed=1)


def test_a_queue_is_found_by_its_name_by_the_name_within_the_stack_and_by_its_logical_id(
    start: Start, stack_name: str
) -> None:
    host = start().host

    assert {host.queue(name).name for name in ("orders", f"{stack_name}-orders", "Orders")} == {f"{stack_name}-orders"}
    with pytest.raises(KeyError, match=f"There is no queue 'order'. The host has {stack_name}-errors"):
        host.queue("order")


def test_waiting_in_vain_says_what_is_where(start: Start) -> None:
    host = start().host
    host.send("errors", "stuck")

    with pytest.raises(TimeoutError, match=r"After 0\.2 s the condition does not hold(.|\n)*errors: Depth\(visible=1"):
        host.run_until(lambda: False, deadline=timedelta(seconds=0.2))


def test_an_observer_that_fails_does_not_stop_the_host(
    tmp_path: Path, stack_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    def observe(entry: Entry) -> None:
        raise ValueError("my own bug")

    path = written(tmp_path, document())
    with LocalAws.from_template(path, observe=observe, stack_name=stack_name) as host:
        host.send("orders", {"do": "succeed"})
        host.run_until(lambda: host.queue("orders").depth().total == 0, deadline=WHOLE_RUN)

    assert "The observer failed on Started" in caplog.text
