"""What a host leaves that dies between sending a copy and completing its original: one copy where the queue detects duplicates, two elsewhere and of a batch, never none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusReceivedMessage, ServiceBusReceiver

from azure.namespace import Bus, called, received
from builders import Boom, recoverability
from deadlines import DEADLINE
from recoverable import Message, Recoverability
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable.azure import ServiceBusEndpoint
from recoverable.headers import MESSAGE_ID
from recoverable_local.service_bus import DropConnection, Operation, Queue, ServiceBusNamespace

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

HOUR = timedelta(hours=1)
TO_ERROR = recoverability(0, 0)
TO_RETRY = recoverability(0, 1, time_increase=HOUR)


class Death(NamedTuple):
    """A ladder, what the host does before it dies, and how many messages that leaves without duplicate detection."""

    settings: Recoverability
    calls: bool
    copies: int


DEATHS = {
    "before it sends": Death(TO_ERROR, calls=False, copies=1),
    "after it sent to the error queue": Death(TO_ERROR, calls=True, copies=2),
    "after it sent a delayed retry": Death(TO_RETRY, calls=True, copies=2),
}


@pytest.fixture(scope="module")
def bus() -> Iterator[Bus]:
    """Yield queues that detect duplicates and queues that do not, new for each test, and the endpoint's client, which sends once more when a connection is lost."""
    kinds = {"once": 24 * HOUR, "twice": None}
    names = [
        queue_of(kind, use)
        for kind in kinds
        for use in (*DEATHS, "answer", "batch", "one by one", "in batches", "orders", "invoices")
    ]
    queues = [
        Queue(part, duplicate_detection_window=kinds[name.partition("-")[0]])
        for name in names
        for part in (name, error_queue(name))
    ]
    with (
        ServiceBusNamespace(queues) as namespace,
        ServiceBusClient.from_connection_string(
            namespace.connection_string, retry_total=1, retry_backoff_factor=0.05
        ) as client,
    ):
        yield Bus(namespace, client)
        with ThreadPoolExecutor() as beside:  # each takes the SDK a second
            list(beside.map(lambda handler: handler.close(), list(client._handlers)))


def send(bus: Bus, queue: str, *ids: str) -> None:
    """Send messages of these ids; without the SDK's thread for idle connections, for whose end it would wait."""
    with bus.client.get_queue_sender(queue, keep_alive=0) as sender:
        sender.send_messages([ServiceBusMessage(f"of {each}", message_id=each) for each in ids])


def receiver_of(bus: Bus, queue: str) -> ServiceBusReceiver:
    """Return a receiver whose link stands, which is closed with all others."""
    return bus.client.get_queue_receiver(queue).__enter__()


def queue_of(kind: str, use: str) -> str:
    return f"{kind} {use}".replace(" ", "-")


def error_queue(queue: str) -> str:
    return f"{queue}-error"


MINUTE = timedelta(minutes=1)


def endpoint(bus: Bus, queue: str, settings: Recoverability, **parts: Any) -> ServiceBusEndpoint[Any]:
    """Return an endpoint whose handler fails."""

    def fail(message: Message) -> None:
        raise Boom(message.text)

    failed = recoverability(error_queue=parts.pop("error", error_queue(queue))).failed
    return ServiceBusEndpoint(
        fail,
        settings.__replace__(failed=failed),
        queue=queue,
        connection="none",
        client=bus.client,
        lock=MINUTE,
        **parts,
    )


def die(
    bus: Bus, receiver: ServiceBusReceiver, failing: ServiceBusEndpoint[Any], *, calls: bool = True, most: int = 1
) -> None:
    """Be a host that settles nothing any more: the locks run out."""
    messages: list[ServiceBusReceivedMessage] = []
    while len(messages) < most:  # the SDK waits a moment only for those after the first
        messages += receiver.receive_messages(most - len(messages), max_wait_time=DEADLINE)
    if calls:
        assert called(failing, messages, batch=most > 1) is None, "it was to be completed"
    bus.namespace.advance(timedelta(minutes=1))


def live(bus: Bus, receiver: ServiceBusReceiver, living: ServiceBusEndpoint[Any], *, most: int = 1) -> None:
    """Be a host until its queue is empty; while all that is there waits, time passes."""
    end = time.monotonic() + DEADLINE
    while (depth := bus.namespace.queue(living.queue).depth()).total:
        assert time.monotonic() < end, f"{living.queue!r} is not empty: {depth}"
        if depth.scheduled == depth.total:
            receiver.close()  # before its link ends as idle, with a message that it still asked for
            bus.namespace.advance(HOUR)
            receiver = receiver_of(bus, living.queue)
        if messages := received(receiver, most):
            Bus._settled(receiver, messages, called(living, messages, batch=most > 1))


def arrived(bus: Bus, queue: str) -> list[tuple[str, str]]:
    """Return the messages in a queue's error queue: the id that the first sender gave, and the body."""
    seen = bus.seen(error_queue(queue))
    return sorted((each.application_properties[MESSAGE_ID], each.body.decode()) for each in seen)


@pytest.mark.parametrize("detects", [True, False], ids=["detecting", "not detecting"])
@pytest.mark.parametrize("death", DEATHS)
def test_a_host_that_dies(bus: Bus, death: str, *, detects: bool) -> None:
    """It costs a message at most one copy where duplicates are not detected, and none where they are."""
    queue, (settings, calls, copies) = queue_of("once" if detects else "twice", death), DEATHS[death]
    failing = endpoint(bus, queue, settings)
    send(bus, queue, "m-1")

    receiver = receiver_of(bus, queue)
    die(bus, receiver, failing, calls=calls)
    live(bus, receiver, failing)

    assert arrived(bus, queue) == [("m-1", "of m-1")] * (1 if detects else copies)


@pytest.mark.parametrize(("kind", "copies"), [("once", 1), ("twice", 2)])
def test_a_sending_whose_answer_is_lost_is_done_again(bus: Bus, kind: str, copies: int) -> None:
    queue = queue_of(kind, "answer")
    send(bus, queue, "m-1")
    bus.namespace.fail(Operation.SEND, DropConnection(done=True), path=error_queue(queue))

    live(bus, receiver_of(bus, queue), endpoint(bus, queue, TO_ERROR))

    assert arrived(bus, queue) == [("m-1", "of m-1")] * copies


@pytest.mark.parametrize("kind", ["once", "twice"])
def test_a_host_that_dies_with_a_batch(bus: Bus, kind: str) -> None:
    """It costs each of its messages one copy, also where duplicates are detected: its next delivery hands it back, by a copy that is a message of its own."""
    queue, ids = queue_of(kind, "batch"), ("m-1", "m-2", "m-3")
    failing = endpoint(bus, queue, TO_ERROR, batch=True)
    send(bus, queue, *ids)

    receiver = receiver_of(bus, queue)
    die(bus, receiver, failing, most=3)
    live(bus, receiver, failing, most=3)

    assert arrived(bus, queue) == [(each, f"of {each}") for each in ids for _ in range(2)]


@pytest.mark.parametrize(("queue", "batch"), [("once-one-by-one", False), ("once-in-batches", True)])
def test_the_copies_of_one_ladder_are_no_duplicates(bus: Bus, queue: str, *, batch: bool) -> None:
    rounds = list[tuple[int, int]]()

    def fail(message: Message) -> None:
        rounds.append((message.round, message.attempt))
        raise Boom(message.text)

    retrying = ServiceBusEndpoint(
        fail,
        recoverability(1, 2, time_increase=timedelta(minutes=20), error_queue=error_queue(queue)),
        queue=queue,
        connection="none",
        client=bus.client,
        batch=batch,
        lock=MINUTE,
    )
    send(bus, queue, "m-1")

    live(bus, receiver_of(bus, queue), retrying, most=2 if batch else 1)

    assert rounds == [(round_, attempt) for round_ in range(3) for attempt in (1, 2)]


def test_messages_of_one_number_and_id_from_two_queues_both_reach_their_error_queue(bus: Bus) -> None:
    queues, errors = ("once-orders", "once-invoices"), "once-orders-error"
    for queue in queues:
        send(bus, queue, "m-1")
    numbers = {queue: bus.seen(queue)[0].sequence_number for queue in queues}

    for queue in queues:
        live(bus, receiver_of(bus, queue), endpoint(bus, queue, TO_ERROR, error=errors))

    assert numbers == dict.fromkeys(queues, 1)
    assert [each.application_properties[FAILED_QUEUE] for each in bus.seen(errors)] == list(queues)
