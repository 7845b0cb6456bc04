"""Start namespaces for the tests of the Service Bus namespace."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from local.service_bus.bus import Bus
from recoverable_local.service_bus import Queue, ServiceBusNamespace, Topic

Serve = Callable[..., Bus]


@pytest.fixture
def serve(closing: Callable[[ExitStack], None]) -> Iterator[Serve]:
    """Serve queues and topics; they stop beside the next tests, since the SDK takes its time to say goodbye."""
    running = ExitStack()

    def served(*entities: Queue | Topic) -> Bus:
        queues = [each for each in entities if isinstance(each, Queue)]
        topics = [each for each in entities if isinstance(each, Topic)]
        return Bus(running.enter_context(ServiceBusNamespace(queues, topics)), running)

    yield served
    closing(running)


@pytest.fixture
def bus(serve: Serve) -> Bus:
    """Start a namespace with the queue `orders`."""
    return serve(Queue("orders"))


@pytest.fixture
def dropping() -> Iterator[Bus]:
    """Start a namespace for tests that drop connections, and collect what the SDK leaves open before the next test."""
    with ExitStack() as running:
        yield Bus(running.enter_context(ServiceBusNamespace([Queue("orders")])), running)
    gc.collect()
