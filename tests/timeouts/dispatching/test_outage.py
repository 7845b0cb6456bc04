"""Test the circuit breaker for an unavailable store: it arms, disarms, and raises a critical error after two minutes."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from builders import seconds
from recoverable.timeouts import CriticalError, StoreUnavailable
from recoverable.timeouts._dispatcher import Circuit
from waiting.rows import NOW

ARMED = "The circuit breaker for TimeoutStorageConnectivity is now in the armed state"


DISARMED = "The circuit breaker for TimeoutStorageConnectivity is now disarmed"


TRIGGERED = "The circuit breaker for TimeoutStorageConnectivity will now be triggered"


CRITICAL = "Repeated failures when fetching timeouts from storage, endpoint will be terminated."


FAILED = "Failed to fetch timeouts from the timeout storage: down"


DOWN = StoreUnavailable("down")


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was logged about the circuit."""
    return [record.getMessage() for record in caplog.records if record.name == "recoverable.timeouts"]


def test_the_first_failure_arms_it_and_a_success_disarms_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    circuit = Circuit()
    circuit.failed(DOWN, NOW)
    circuit.failed(DOWN, NOW + seconds(119))
    circuit.succeeded()

    assert (told(caplog), circuit.armed_since) == ([FAILED, ARMED, FAILED, DISARMED], None)


def test_two_minutes_later_it_is_critical(caplog: pytest.LogCaptureFixture) -> None:
    circuit = Circuit()
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError, match=CRITICAL):
        circuit.failed(DOWN, NOW + seconds(120))
    assert told(caplog) == [FAILED, ARMED, FAILED, TRIGGERED, CRITICAL]


def test_the_time_is_a_setting() -> None:
    circuit = Circuit(timedelta(seconds=5))
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError):
        circuit.failed(DOWN, NOW + seconds(5))


def test_a_success_starts_the_time_anew() -> None:
    circuit = Circuit()
    circuit.failed(DOWN, NOW)
    circuit.succeeded()
    circuit.failed(DOWN, NOW + seconds(120))

    assert circuit.armed_since == NOW + seconds(120)


def test_the_hook_gets_the_error_before_it_is_raised() -> None:
    got: list[CriticalError] = []
    circuit = Circuit(on_critical=got.append)
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError) as raised:
        circuit.failed(DOWN, NOW + seconds(120))
    assert (got, raised.value.__cause__) == ([raised.value], DOWN)


def test_a_hook_that_fails_does_not_hide_the_error(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_error: CriticalError) -> None:
        raise RuntimeError("no pager")

    circuit = Circuit(on_critical=fail)
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError):
        circuit.failed(DOWN, NOW + seconds(120))
    assert "on_critical raised RuntimeError; the critical error is raised all the same" in told(caplog)
