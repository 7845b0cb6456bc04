"""A policy that grants more immediate retries than the setting, on Service Bus: they go on as copies, behind the others of a session."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from recoverable import (
    Action,
    Delayed,
    ErrorContext,
    Failed,
    Immediate,
    ImmediateRetry,
    Message,
    Recoverability,
    default_policy,
)
from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable.azure import ServiceBusEndpoint
from recoverable.headers import ATTEMPTS, GRANTED
from recoverable_local.testing import ServiceBusWorld

QUEUE, ERROR = "orders", "error"
GRANTS = 9
ALL = [("bad", round_, attempt) for round_ in (0, 1) for attempt in range(1, GRANTS + 2)]


def patient(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Grant nine immediate retries a round, then do as the default policy does."""
    if context.immediate_processing_failures <= GRANTS:
        return ImmediateRetry()
    return default_policy(recoverability, context)


def run(world: ServiceBusWorld, *bodies: str, in_process: bool = False, **settings: Any) -> list[tuple[str, int, int]]:
    """Send the bodies, run with the smallest `MaxDeliveryCount` that is allowed, and return body, round and attempt of each run."""
    runs: list[tuple[str, int, int]] = []

    def handle(message: Message) -> None:
        runs.append((message.text, message.round, message.attempt))
        if message.text == "bad":
            raise ValueError("no")

    ladder = Recoverability(
        Immediate(2, in_process=in_process), Delayed(1, timedelta(seconds=10)), Failed(ERROR), policy=patient
    )
    endpoint = ServiceBusEndpoint(handle, ladder, queue=QUEUE, connection="ServiceBus", name="orders", **settings)
    in_order, sessions = settings.get("sessions") == "ordered", "sessions" in settings
    world.create_queue(
        QUEUE, dead_letter_queue=ERROR, max_delivery_count=16 if in_order else 8, sessions=sessions, lock=60
    )
    world.serve(QUEUE, endpoint)
    for body in bodies:
        world.send(QUEUE, body, group_id="s" if sessions else None)
    world.run()
    return runs


@pytest.mark.parametrize(
    "settings", [{}, {"batch": True, "lock": timedelta(minutes=1)}, {"in_process": True}], ids=["one", "batch", "in process"]
)  # fmt: skip
def test_each_round_has_the_attempts_that_the_policy_grants(
    service_bus_world: ServiceBusWorld, settings: dict[str, Any]
) -> None:
    runs = run(service_bus_world, "bad", **settings)

    (seen,) = service_bus_world.queue(ERROR)
    assert (runs, seen.headers[EXCEPTION_MESSAGE], seen.headers[ATTEMPTS]) == (ALL, "no", "20")
    assert GRANTED not in seen.headers


def test_in_a_session_what_was_behind_it_runs_before_a_granted_retry_and_the_log_says_so(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    runs = run(service_bus_world, "bad", "good", sessions=True)

    assert runs == [*ALL[:3], ("good", 0, 1), *ALL[3:]]
    assert "the other messages of its session run before it. Raise max_retries." in caplog.text


def test_where_sessions_keep_their_order_it_goes_on_in_the_next_round(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    start = service_bus_world.now

    runs = run(service_bus_world, "bad", "good", sessions="ordered")

    (seen,) = service_bus_world.queue(ERROR)
    in_order = [*ALL[:3], ("bad", 1, 1), ("bad", 1, 2), ("bad", 1, 3), ("good", 0, 1)]
    assert (runs, seen.headers[EXCEPTION_MESSAGE]) == (in_order, "no")
    assert service_bus_world.now - start >= timedelta(seconds=10)
    assert "It is the first attempt of the next round." in caplog.text
