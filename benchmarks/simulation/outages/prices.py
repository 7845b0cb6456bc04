"""What a simulated outage would have cost on each cloud: list prices in dollars, without free tiers, included operations and volume discounts."""

from __future__ import annotations

from collections.abc import Mapping

from simulation.prices import MEMORY, lambda_dollars, sqs_dollars

SERVICE_BUS_OPERATION = 0.80 / 1_000_000
"""Dollars for an operation in the tier Standard, from the 13 millionth to the 100 millionth a month (Azure Service Bus pricing, East US)."""

FUNCTIONS_EXECUTION = 0.20 / 1_000_000
"""Dollars for an execution in the Consumption plan (Azure Functions pricing, East US)."""

FUNCTIONS_GB_SECOND = 0.000016
"""Dollars for a GB-second there."""

SHORTEST_EXECUTION = 0.1
"""Seconds that the shortest execution is billed as."""

STORE: Mapping[str, Mapping[str, float]] = {
    "AWS": {"read": 0.125 / 1_000_000, "write": 0.625 / 1_000_000},
    "Azure": {"read": 0.00036 / 10_000, "write": 0.00036 / 10_000},
}
"""Dollars for a call to the store: DynamoDB on demand, a consistent read and a write of up to 1 KB (us-east-1); table storage, locally redundant (East US)."""


def aws_dollars(requests: int, invocations: int, seconds: float) -> float:
    """Return what SQS and Lambda cost."""
    return sqs_dollars(requests) + lambda_dollars(invocations, seconds)


def azure_dollars(operations: int, executions: int) -> float:
    """Return what Service Bus and Functions cost; no execution here takes longer than the shortest that is billed."""
    seconds = executions * SHORTEST_EXECUTION
    by_time = seconds * MEMORY * FUNCTIONS_GB_SECOND
    return operations * SERVICE_BUS_OPERATION + executions * FUNCTIONS_EXECUTION + by_time


def store_dollars(cloud: str, calls: Mapping[str, int]) -> float:
    """Return what the shared circuit costs."""
    return sum(STORE[cloud][what] * count for what, count in calls.items())
