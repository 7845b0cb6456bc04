"""The Lambda function that looks each minute whether a paused orders queue can be read again."""

from __future__ import annotations

import os
from datetime import timedelta

import orders
from recoverable.aws.circuit_store import DynamoDbCircuit
from recoverable.aws.pause import PauseTrigger
from recoverable.aws.pause_probe import Probe
from recoverable.aws.pause_queue_store import SqsProbeQueue

QUEUE_ARN = os.environ["ORDERS_QUEUE_ARN"]

handler = Probe(
    orders.handler,
    PauseTrigger(
        DynamoDbCircuit(os.environ["CIRCUIT_TABLE"], "orders", patience=timedelta(seconds=2)),
        queue_arn=QUEUE_ARN,
        function=os.environ["ORDERS_FUNCTION"],
    ),
    SqsProbeQueue(QUEUE_ARN),
)
