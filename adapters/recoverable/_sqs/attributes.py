"""Read what SQS says a queue is set to: for how long it hides and keeps a message, and how often it gives one out; and by which clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from recoverable._frozen import Frozen

NAMES = ("VisibilityTimeout", "MessageRetentionPeriod", "RedrivePolicy")
"""The attributes that are asked for (Amazon SQS, GetQueueAttributes)."""

SHORTEST_RETENTION, LONGEST_RETENTION = timedelta(minutes=1), timedelta(days=14)
"""For how long a queue can keep a message (Amazon SQS, CreateQueue)."""

CLOCKS_AGREE = 2.0
"""Seconds by which an answer's `Date`, which is in whole seconds and was on its way, may differ from a clock that is right."""


class QueueAttributes(Frozen):
    """The attributes of a queue; None for what SQS did not say.

    Args:
        visibility_timeout: seconds for which a received message is hidden.
        retention: seconds for which a message is kept, counted from its send.
        max_receives: receives after which a message goes to the dead-letter queue.
        ahead: seconds by which the clock of this instance is ahead of SQS's, which all times of its messages are by.
    """

    visibility_timeout: int | None = None
    retention: int | None = None
    max_receives: int | None = None
    ahead: float = 0.0


UNKNOWN = QueueAttributes()


def attributes_in(answer: object, now: float) -> QueueAttributes:
    """Return the attributes in an answer of GetQueueAttributes, which may be anything.

    Args:
        answer: the answer.
        now: when it came, by the clock of this instance, in seconds since 1970.
    """
    attributes = answer.get("Attributes") if isinstance(answer, dict) else None
    if not isinstance(attributes, dict):
        return UNKNOWN
    visibility_timeout, retention, redrive = map(attributes.get, NAMES)
    ahead = seconds_ahead(answer, now)
    return QueueAttributes(number_in(visibility_timeout), number_in(retention), max_receives_in(redrive), ahead)


def seconds_ahead(answer: Any, now: float) -> float:
    """Return by how many seconds this instance's clock is ahead of the one that dated an answer (RFC 9110, Date); 0 where nothing says it."""
    from email.utils import parsedate_to_datetime  # dear at cold start

    try:
        ahead = now - parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"]).timestamp()
    except (LookupError, TypeError, ValueError, OverflowError):
        return 0.0
    return 0.0 if abs(ahead) < CLOCKS_AGREE else ahead


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
