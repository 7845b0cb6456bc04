"""A message on which all that a sender can set is set."""

from __future__ import annotations

from typing import Any
from uuid import UUID

FIELDS: dict[str, Any] = {
    "message_id": "m1",
    "correlation_id": "c1",
    "subject": "s1",
    "to": "t1",
    "reply_to": "r1",
    "content_type": "x/y",
    "partition_key": "p1",
}
PROPERTIES: dict[str, Any] = {
    "text": "ä€",
    "whole": 7,
    "broken": 0.5,
    "sure": True,
    "id": UUID(int=1),
    "large": {"TYPE": "LONG", "VALUE": 2**40},
}
"""An application property of each type, as the SDK takes them."""
