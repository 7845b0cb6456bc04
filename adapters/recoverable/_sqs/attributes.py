"""Read what SQS says a queue is set to: for how long it hides and keeps a message, and how often it gives one out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

from recoverable._frozen import Frozen

NAMES = ("VisibilityTimeout", "MessageRetentionPeriod", "RedrivePolicy")
"""The attributes that are asked for (Amazon SQS, GetQueueAttributes)."""

SHORTEST_RETENTION, LONGEST_RETENTION = timedelta(minutes=1), timedelta(days=14)
"""For how long a queue can keep a message (Amazon SQS, CreateQueue)."""


class QueueAttributes(Frozen):
    """The attributes of a queue; None for what SQS did not say.

    Args:
        visibility_timeout: seconds for which a received message is hidden.
        retention: seconds for which a message is kept, counted from its send.
        max_receives: receives after which a message goes to the dead-letter queue.
    """

    visibility_timeout: int | None = None
    retention: int | None = None
    max_receives: int | None = None


UNKNOWN = QueueAttributes()


def attributes_in(answer: object) -> QueueAttributes:
    """Return the attributes in an answer of GetQueueAttributes, which may be anything."""
    attributes = answer.get("Attributes") if isinstance(answer, dict) else None
    if not isinstance(attributes, dict):
        return UNKNOWN
    visibility_timeout, retention, redrive = map(attributes.get, NAMES)
    return QueueAttributes(number_in(visibility_timeout), number_in(retention), max_receives_in(redrive))


def max_receives_in(policy: object) -> int | None:
    """Return the `maxReceiveCount` of a redrive policy; None without one."""
    try:
        found = json.loads(policy) if isinstance(policy, str) else None
    except ValueError:
        return None
    return number_in(str(found.get("maxReceiveCount"))) if isinstance(found, Mapping) else None


def number_in(text: object) -> int | None:
    """Return a text as a whole number; None where it is none."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 10 else None  # noqa: PLR2004  # no attribute has as many digits
