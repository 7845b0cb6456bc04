"""A reader of the Powertools page, who has what it takes for granted and runs its blocks of Python."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import Any

import aws_lambda_powertools as powertools
from aws_lambda_powertools.logging import utils
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities import idempotency
from aws_lambda_powertools.utilities.batch import process_partial_response
from aws_lambda_powertools.utilities.circuit_breaker import CircuitBreakerOpenError
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from pydantic import BaseModel

import recoverable
from aws.recording_client import RecordingClient
from aws.records import event, record
from docs.pages import blocks
from powertools.entry_points import Context
from recoverable.aws import SqsEndpoint
from servers.queues import HEADERS

BLOCKS = blocks("use/powertools.md", "python")


class CardDeclined(Exception):
    """What the page's `charge` may raise."""


class Order(BaseModel):
    """What the page's messages say."""

    card: str


class Reader:
    """A reader of the page, who has what it takes for granted: names from Powertools and this package, and a bank."""

    def __init__(self) -> None:
        self.charged: list[str] = []
        self.client = RecordingClient()
        self.names: dict[str, Any] = {
            **{name: getattr(powertools, name) for name in ("Logger", "Metrics", "Tracer")},
            **{name: getattr(idempotency, name) for name in ("IdempotencyConfig", "idempotent_function")},
            **{name: getattr(recoverable, name) for name in ("Message", "RetryAfter")},
            "CardDeclined": CardDeclined,
            "CircuitBreakerOpenError": CircuitBreakerOpenError,
            "MetricUnit": MetricUnit,
            "Order": Order,
            "SQSRecord": SQSRecord,
            "SqsEndpoint": SqsEndpoint,
            "charge": self.charge,
            "logger": logging.getLogger("shop"),
            "process_partial_response": process_partial_response,
            "timedelta": timedelta,
            "utils": utils,
        }

    def charge(self, card: str) -> None:
        """The bank: the card decides what it does."""
        self.charged.append(card)
        match card:
            case "declined":
                raise CardDeclined("do not honour")
            case "blinks":
                raise ConnectionError("the bank blinked")
            case "open":
                raise CircuitBreakerOpenError("the bank is not asked")
            case _:
                pass

    def runs(self, *numbers: int) -> None:
        """Run blocks of the page, one after the other."""
        for number in numbers:
            exec(compile(BLOCKS[number], f"powertools.md, block {number}", "exec"), self.names)

    def invokes(self, *cards: str, **more: Any) -> Any:
        """Invoke the page's Lambda handler with an order for each card."""
        records = [record(json.dumps({"card": card}), message_id=card, **more) for card in cards]
        return self.names["lambda_handler"](event(*records), Context())

    def copies(self) -> list[dict[str, Any]]:
        """The headers of the copies that were sent, and their delay."""
        return [
            {"delay": entry["DelaySeconds"], **json.loads(entry["MessageAttributes"][HEADERS]["StringValue"])}
            for entry in self.client.sent
        ]
