"""What the log says of a success: one line where the message had failed before, and nothing where it comes for the first time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest

from builders import Boom
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld

Handler = Callable[[Message], None]


def settings(immediate: int, delayed: int, *, in_process: bool = False) -> Recoverability:
    """Return a ladder whose first delay is ten seconds."""
    return Recoverability(
        Immediate(immediate, in_process=in_process), Delayed(delayed, timedelta(seconds=10)), Failed("error")
    )


def sqs(handler: Handler, ladder: Recoverability, queue: str = "orders") -> None:
    """Have a message handled on SQS."""
    world = SqsWorld()
    world.serve(queue, SqsEndpoint(handler, ladder), recursive_loop="Allow")
    group, unique = ("a", "1") if queue.endswith(".fifo") else (None, None)
    world.send(queue, "order 1", group_id=group, deduplication_id=unique)
    world.run()


def fifo(handler: Handler, ladder: Recoverability) -> None:
    """Have a message handled on a FIFO queue."""
    failed = ladder.failed.replace(error_queue="error.fifo")
    sqs(handler, ladder.replace(failed=failed), "orders.fifo")


def service_bus(handler: Handler, ladder: Recoverability) -> None:
    """Have a message handled on Service Bus."""
    world = ServiceBusWorld()
    world.serve("orders", ServiceBusEndpoint(handler, ladder, queue="orders", connection="X", name="orders"))
    world.send("orders", "order 1")
    world.run()


class Recovering:
    """A handler that fails so often, and then sends something and succeeds.

    Args:
        failures: how often.
    """

    def __init__(self, failures: int) -> None:
        self.failures, self.ids = failures, list[str]()

    def __call__(self, message: Message) -> None:
        self.ids.append(message.id)
        if len(self.ids) <= self.failures:
            raise Boom


def successes(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return level and text of the lines about successes."""
    return [(line.levelname, line.getMessage()) for line in caplog.records if line.name == "recoverable.complete"]


SERVES: dict[str, tuple[Callable[[Handler, Recoverability], None], str]] = {
    "SQS": (sqs, ", 00:00:10 after its first failure."),
    "SQS FIFO": (fifo, ", 00:00:10 after its first failure."),
    "Service Bus": (
        service_bus,
        ", 00:00:10 after its first failure. [action=complete attempt=1 round=1 queue=orders]",
    ),
}


@pytest.fixture(autouse=True)
def _everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="recoverable")


@pytest.mark.parametrize(("serve", "end"), SERVES.values(), ids=SERVES)
def test_a_success_after_a_failed_round_is_one_line(
    serve: Callable[[Handler, Recoverability], None], end: str, caplog: pytest.LogCaptureFixture
) -> None:
    handler = Recovering(1)

    serve(handler, settings(0, 1))

    text = f"Message '{handler.ids[0]}' succeeded at attempt 1 of round 1"
    assert [(level, said.replace(text, "")) for level, said in successes(caplog)] == [("INFO", end)]


@pytest.mark.parametrize(
    ("serve", "ladder"),
    [
        *((serve, settings(1, 0)) for serve in (sqs, fifo, service_bus)),
        *((serve, settings(1, 0, in_process=True)) for serve in (sqs, service_bus)),
    ],
)
def test_a_success_at_the_second_attempt_is_one_line(
    serve: Callable[[Handler, Recoverability], None], ladder: Recoverability, caplog: pytest.LogCaptureFixture
) -> None:
    serve(Recovering(1), ladder)

    assert ["succeeded at attempt 2 of round 0" in text for _, text in successes(caplog)] == [True]


@pytest.mark.parametrize("serve", [sqs, fifo, service_bus])
def test_a_first_attempt_that_succeeds_logs_nothing(
    serve: Callable[[Handler, Recoverability], None], caplog: pytest.LogCaptureFixture
) -> None:
    serve(Recovering(0), settings(5, 3))

    assert [line for line in caplog.records if line.name.startswith("recoverable.")] == []
