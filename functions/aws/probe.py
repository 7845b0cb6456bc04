"""Check each minute if a paused orders queue can be read again."""

from __future__ import annotations

import os
from datetime import timedelta

import orders
from recoverable.circuits import DynamoDbCircuit, PauseTrigger, Probe, SqsProbeQueue

QUEUE_ARN = os.environ["ORDERS_QUEUE_ARN"]

handler = Probe(
    orders.handler,
    PauseTrigger(
        DynamoDbCircuit(os.environ["CIRCUIT_TABLE"], "orders", timeout=timedelta(seconds=2)),
        queue_arn=QUEUE_ARN,
        function=os.environ["ORDERS_FUNCTION"],
    ),
    SqsProbeQueue(QUEUE_ARN),
)
