"""Test the example's probe: it is made of the example's own handler and the settings in the environment."""

from __future__ import annotations

import importlib

import pytest

from recoverable.circuits import Probe

PLACE = {
    "CIRCUIT_TABLE": "circuits",
    "ORDERS_QUEUE_ARN": "arn:aws:sqs:eu-west-1:123456789012:orders",
    "ORDERS_FUNCTION": "orders",
}


def test_it_is_a_probe_of_the_orders_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLACE.items():
        monkeypatch.setenv(name, value)

    assert isinstance(importlib.import_module("probe").handler, Probe)
