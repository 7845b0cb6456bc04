"""What reads the orders queue on Service Bus."""

from __future__ import annotations

import os
from datetime import timedelta

from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.azure import ServiceBusEndpoint
from shop import CardDeclined, place_order

orders = ServiceBusEndpoint(
    place_order,
    Recoverability(
        immediate=Immediate(max_retries=int(os.environ.get("IMMEDIATE_RETRIES", "5"))),
        delayed=Delayed(
            max_retries=int(os.environ.get("DELAYED_RETRIES", "3")),
            time_increase=timedelta(seconds=float(os.environ.get("TIME_INCREASE_SECONDS", "10"))),
        ),
        failed=Failed(unrecoverable=(CardDeclined,)),
    ),
    queue="orders",
    connection="ServiceBus",
)
