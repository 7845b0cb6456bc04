"""Complete the rate limit of the orders function; `orders.py` imports this only where the environment asks for a rate limit."""

from __future__ import annotations

import os

from recoverable import RateLimit
from recoverable.circuits import DynamoDbCircuit, PauseTrigger
from shop import is_bank_failure


def over_all_instances(limit: RateLimit) -> RateLimit:
    """Return the rate limit for all instances together. If PAUSE_TRIGGER is "true", the trigger is paused meanwhile.

    Args:
        limit: says how many attempts in a row must fail.
    """
    failures = limit.consecutive_failures
    circuit = DynamoDbCircuit(os.environ["CIRCUIT_TABLE"], "orders")
    if os.environ.get("PAUSE_TRIGGER") != "true":
        return RateLimit(failures, counts=is_bank_failure, store=circuit)
    pause = PauseTrigger(circuit, queue_arn=os.environ["ORDERS_QUEUE_ARN"], function=paused_function_name())
    return RateLimit(failures, counts=is_bank_failure, store=circuit, on_started=pause.start, on_ended=pause.stop)


def paused_function_name() -> str:
    """Return the name of the function whose trigger is paused: this one, unless this is the probe."""
    return os.environ.get("ORDERS_FUNCTION") or os.environ["AWS_LAMBDA_FUNCTION_NAME"]
