"""List all scenarios that `make test` explores, by name."""

from __future__ import annotations

from collections.abc import Mapping

from proof.replaying import Scenario
from proof.service_bus import catalogue as service_bus
from proof.service_bus import outgoing as service_bus_outgoing
from proof.service_bus import replaying as service_bus_replaying
from proof.sqs import catalogue as sqs
from proof.sqs import fifo as sqs_fifo
from proof.sqs import outgoing as sqs_outgoing
from proof.sqs import replaying as sqs_replaying

SCENARIOS: tuple[Scenario, ...] = (
    *sqs.SCENARIOS,
    *sqs_fifo.SCENARIOS,
    *sqs_outgoing.SCENARIOS,
    *service_bus.SCENARIOS,
    *service_bus_outgoing.SCENARIOS,
)

OVERLAPPING: tuple[Scenario, ...] = (*sqs.OVERLAPPING, *service_bus.OVERLAPPING)
"""Scenarios in which deliveries of one message overlap."""

NAMED: Mapping[str, Scenario] = {scenario.name: scenario for scenario in (*SCENARIOS, *OVERLAPPING)}

REPLAYING = (sqs_replaying, service_bus_replaying)
"""Imported so that each cloud's scenarios can be replayed."""
