"""Check that on Service Bus a quiet time changes nothing: a message then goes the way that it goes on a busy day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from azure.servicebus import ServiceBusMessage
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proof.ladders import ERRORS, ladder
from proof.service_bus.catalogue import BATCH, ORDERED, SESSIONS
from proof.service_bus.scenarios import QUEUE, Scenario, send, world_of
from recoverable._service_bus.answers import failure_of
from recoverable._service_bus.renewal import RenewedSender
from recoverable_local.testing import ConnectionReset

DAY = 24 * 3600
ENDPOINTS: Mapping[str, Mapping[str, Any]] = {
    "one message": {}, "batch": BATCH, "sessions": SESSIONS, "ordered sessions": ORDERED,
}  # fmt: skip
BODIES = ("fails", "sends", "fails sends", "sends+fails sends", "kills ok")


class Step(NamedTuple):
    """One thing that happened to a message, by the seconds since it was sent."""

    at: float
    what: str
    queue: str
    detail: str


def course(
    endpoint: str, body: str, quiet: int = 1, reset: ConnectionReset | None = None, detects: tuple[str, ...] = ()
) -> list[Step]:
    """Return what happens to a message that is sent when so many seconds have been quiet, and to what its handler sends.

    Before the quiet time connections to all queues are opened.

    Args:
        endpoint: the kind of endpoint.
        body: what the message does.
        quiet: seconds without a message.
        reset: what happens to the first call for the message.
        detects: the queues that detect duplicates.
    """
    scenario = Scenario(
        name="quiet", bodies=("fails", "sends"), recoverability=ladder(1, 1), endpoint=ENDPOINTS[endpoint],
        fifo=ENDPOINTS[endpoint] is ORDERED, detects=detects,
    )  # fmt: skip
    world, _, _ = world_of(scenario)
    world.run()
    world.run(for_=quiet)
    if reset is not None:
        world.fail("send_messages", reset, nth=1)
    entries, began = world._journal._entries, world._seconds()
    before = len(entries)
    send(world, scenario, 3, body)
    world.run()
    return [Step(round(each.at - began, 3), each.what, each.queue, each.detail) for each in entries[before:]]


def without_failed_calls(steps: list[Step]) -> list[Step]:
    return [step for step in steps if step.what != "call failed"]


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("body", BODIES)
@given(quiet=st.integers(1, 400 * DAY))
@example(quiet=60)
@example(quiet=240)
@example(quiet=600)
@example(quiet=900)
@example(quiet=61 * 60)
@settings(max_examples=3)
def test_a_message_after_a_quiet_time_goes_the_way_of_a_busy_day(endpoint: str, body: str, quiet: int) -> None:
    assert course(endpoint, body, quiet) == course(endpoint, body)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("body", BODIES)
def test_a_reset_of_a_connection_that_had_carried_a_send_changes_nothing(endpoint: str, body: str) -> None:
    assert without_failed_calls(course(endpoint, body, reset=ConnectionReset())) == course(endpoint, body)


def sent_in_all(steps: list[Step]) -> list[str]:
    """Return the queues that kept what was sent to them."""
    names = [step.queue for step in steps if step.what == "sent"]
    for step in steps:
        if step.what == "dropped as a duplicate":
            names.remove(step.queue)
    return sorted(names)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("body", BODIES)
def test_a_send_that_was_done_before_the_reset_is_repeated_under_the_same_id(endpoint: str, body: str) -> None:
    detects = (QUEUE, ERRORS, "out")

    found = course(endpoint, body, reset=ConnectionReset(done=True), detects=detects)

    assert sent_in_all(found) == sent_in_all(course(endpoint, body, detects=detects))


def renewed_never(sender: RenewedSender) -> Any:
    """Use an idle connection."""
    sender._sender = sender._sender or sender._make()
    return sender._sender


def repeated_never(sender: RenewedSender, message: Any, *, timeout: float) -> None:
    """Take a reset for an unknown answer."""
    sender._send(sender._connected(), message, timeout)


def repeated_under_a_new_id(sender: RenewedSender, message: Any, *, timeout: float) -> None:
    """Make another message of what is repeated."""
    try:
        sender._send(sender._connected(), message, timeout)
    except Exception as error:
        if not failure_of(error).is_reset or not isinstance(message, ServiceBusMessage):
            raise
        message.message_id = f"{message.message_id} again"
        sender._send(sender._connected(), message, timeout)


@pytest.mark.parametrize(
    ("name", "mistake", "claim"),
    [
        ("_connected", renewed_never, test_a_message_after_a_quiet_time_goes_the_way_of_a_busy_day),
        ("send_messages", repeated_never, test_a_reset_of_a_connection_that_had_carried_a_send_changes_nothing),
        (
            "send_messages", repeated_under_a_new_id,
            test_a_send_that_was_done_before_the_reset_is_repeated_under_the_same_id,
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_found(
    name: str, mistake: Callable[..., Any], claim: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RenewedSender, name, mistake)

    with pytest.raises(AssertionError):
        claim(endpoint="one message", body="fails")
