"""List all scenarios by name: `make test` tries a few schedules of each."""

from __future__ import annotations

from collections.abc import Mapping

from proof import rate_limit_scenarios
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

RATE_LIMITED: tuple[Scenario, ...] = rate_limit_scenarios.SCENARIOS

NAMED: Mapping[str, Scenario] = {scenario.name: scenario for scenario in (*SCENARIOS, *OVERLAPPING, *RATE_LIMITED)}

REPLAYING = (sqs_replaying, service_bus_replaying)
"""Imported so that each cloud's scenarios can be replayed."""
