"""The known deviations of servers from what the contract says of Service Bus."""

from __future__ import annotations

from collections.abc import Mapping

SERVERS = ("ServiceBusWorld", "emulator")

DEVIATIONS: Mapping[tuple[str, str], str] = {}
"""Deviations of the servers, by the behaviour as `behaviour_of` returns it; none is known."""
