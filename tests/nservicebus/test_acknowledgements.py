"""ServiceControl learns that its retry was handled: the endpoint sends it one control message, by its own error queue."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import pytest

from builders import Boom, recoverability
from nservicebus.worlds import SEND, Serve, World, send, service_bus_world, sqs_world
from recoverable import Discard, Message
from recoverable.headers import write_date
from recoverable_local.testing import AnswerLost, Died, SeenMessage, ServiceBusWorld, SqsWorld, Throttled, Unreachable

ID, UNIQUE_ID = "NServiceBus.MessageId", "2e8127fc-9054-697a-4489-4afd037bb71e"
SUCCESSFUL, UNIQUE, QUEUE = (
    f"ServiceControl.Retry.{name}" for name in ("Successful", "UniqueMessageId", "AcknowledgementQueue")
)
RETRY = {ID: "7", UNIQUE: UNIQUE_ID, QUEUE: "orders-error"}

on_both_clouds = pytest.mark.parametrize("serve", [sqs_world, service_bus_world], ids=["SQS", "Service Bus"])


class Fails:
    """A handler whose first attempts fail.

    Args:
        times: how many.
    """

    def __init__(self, times: int = 0) -> None:
        self.times, self.runs = times, 0

    def __call__(self, _message: Message) -> None:
        self.runs += 1
        if self.runs <= self.times:
            raise Boom("it broke")


def acknowledged(world: World) -> list[SeenMessage]:
    """Return the acknowledgements in the error queue."""
    return [each for each in world.queue("orders-error") if SUCCESSFUL in each.headers]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings about acknowledgements."""
    return [
        each.getMessage() for each in caplog.records if each.levelno == logging.WARNING and "retr" in each.getMessage()
    ]


@on_both_clouds
def test_a_retry_that_was_handled_is_acknowledged(serve: Serve) -> None:
    world = serve(Fails(), recoverability())
    send(world, RETRY)
    world.run()

    [one] = world.queue("orders-error")
    own = {name: text for name, text in one.headers.items() if name != ID}
    now = write_date(one.sent_at)
    assert own == {
        SUCCESSFUL: now, UNIQUE: UNIQUE_ID, "NServiceBus.ControlMessage": "True", "NServiceBus.TimeSent": now,
    }  # fmt: skip
    assert (one.body in ("", "empty message"), one.id not in ("", "7"), world.queue("orders")) == (True, True, [])


@on_both_clouds
def test_one_that_was_discarded_is_acknowledged_too(serve: Serve) -> None:
    world = serve(Fails(99), recoverability(policy=lambda _settings, _context: Discard("of no use any more")))
    send(world, RETRY)
    world.run()

    assert len(acknowledged(world)) == 1


@on_both_clouds
@pytest.mark.parametrize("failures", range(1, 10))
def test_there_is_exactly_one_whichever_of_its_attempts_succeeds_and_none_for_an_error_copy(
    serve: Serve, failures: int
) -> None:
    handler = Fails(failures)
    world = serve(handler, recoverability(2, 2))
    send(world, RETRY)
    world.run()

    [last] = world.queue("orders-error")
    given_up = failures == 9
    assert (handler.runs, SUCCESSFUL in last.headers, last.headers[UNIQUE]) == (
        min(failures + 1, 9),
        not given_up,
        UNIQUE_ID,
    )


@on_both_clouds
def test_messages_beside_it_are_acknowledged_by_nobody(serve: Serve) -> None:
    world = serve(Fails(), recoverability())
    for headers in (RETRY, {ID: "8"}, {ID: "9", UNIQUE: UNIQUE_ID}, {ID: "10", QUEUE: "orders-error"}):
        send(world, headers)
    world.run()

    assert (len(world.queue("orders-error")), world.queue("orders")) == (1, [])


BAD = {
    "no GUID": ({UNIQUE: "7"}, f"{UNIQUE} is no GUID"),
    "a line more": ({UNIQUE: UNIQUE_ID + "\n"}, f"{UNIQUE} is no GUID"),
    "another queue": (
        {QUEUE: "elsewhere"},
        f"{QUEUE} names 'elsewhere', and the error queue is 'orders-error': check Failed(error_queue)",
    ),
}


@on_both_clouds
@pytest.mark.parametrize(("wrong", "why"), BAD.values(), ids=BAD)
def test_what_cannot_be_acknowledged_is_handled_with_a_warning(
    serve: Serve, wrong: dict[str, str], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = serve(handler := Fails(), recoverability())
    world.create_queue("elsewhere")
    send(world, RETRY | wrong)
    world.run()

    assert (handler.runs, world.queue("orders"), world.queue("orders-error"), world.queue("elsewhere")) == (
        1,
        [],
        [],
        [],
    )
    assert warnings(caplog) == [
        f"Message '7' from 'orders' was handled, and ServiceControl gets no acknowledgement ({why}). It is completed all the "
        "same. ServicePulse shows its retry as pending: mark it as resolved there."
    ]


@on_both_clouds
@pytest.mark.parametrize("fault", [Throttled(), AnswerLost()], ids=lambda fault: type(fault).__name__)
def test_an_acknowledgement_that_is_not_taken_is_a_warning(
    serve: Serve, fault: Throttled | AnswerLost, caplog: pytest.LogCaptureFixture
) -> None:
    world = serve(handler := Fails(), recoverability())
    world.fail(SEND[type(world)], fault, queue="orders-error")
    send(world, RETRY)
    world.run()

    assert (handler.runs, world.queue("orders")) == (1, [])
    [warning] = warnings(caplog)
    assert "'orders-error' failed" in warning
    assert "mark " in warning


NOT_COMPLETED: Mapping[type[World], tuple[str, Died | Unreachable]] = {
    SqsWorld: ("delete_message_batch", Died()), ServiceBusWorld: ("settle", Unreachable()),
}  # fmt: skip
"""The step by which a message is completed, and a fault there after which it is delivered again."""


@on_both_clouds
def test_it_is_sent_before_its_message_is_completed(serve: Serve) -> None:
    world = serve(handler := Fails(), recoverability())
    step, fault = NOT_COMPLETED[type(world)]
    world.fail(step, fault, nth=1, queue="orders")
    send(world, RETRY)
    world.run()

    assert (handler.runs, len(acknowledged(world)), world.queue("orders")) == (2, 2, [])
