"""Check each minute if a paused orders queue can be read again."""

from __future__ import annotations

import os
from datetime import timedelta

import orders
from recoverable.aws._pause.circuit_store import DynamoDbCircuit
from recoverable.aws._pause.probe import Probe
from recoverable.aws._pause.queue_store import SqsProbeQueue
from recoverable.aws._pause.trigger import PauseTrigger

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
