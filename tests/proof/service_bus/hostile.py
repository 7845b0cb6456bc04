"""Strategies for all that a sender can write to Service Bus, and for what a host may tell of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from proof.hostile import COUNTS, DATES, JSON, NAMES, TEXT, VALUES

NUMBERS = st.integers(-(2**31), 2**31 - 1) | st.integers(-(2**63), 2**63 - 1).map(
    lambda number: {"TYPE": "LONG", "VALUE": number}
)
PROPERTY = COUNTS | DATES | TEXT | NUMBERS | st.booleans() | st.floats(allow_nan=False) | st.just(UUID(int=7))
PROPERTIES = st.dictionaries(NAMES | TEXT, PROPERTY, max_size=7)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "message_id": TEXT,
        "correlation_id": TEXT,
        "subject": TEXT,
        "to": TEXT,
        "reply_to": TEXT,
        "reply_to_session_id": TEXT,
        "content_type": TEXT,
        "time_to_live": st.integers(3_600, 40 * 24 * 3_600).map(lambda seconds: timedelta(seconds=seconds)),
    },
)
ENDPOINTS = st.fixed_dictionaries({"batch": st.booleans()})


@st.composite
def sent(draw: st.DrawFn) -> dict[str, Any]:
    """A message as `ServiceBusWorld.send` takes it."""
    body = draw(TEXT | st.binary(max_size=20) | JSON.map(str))
    return {"body": body, "attributes": draw(PROPERTIES), **draw(FIELDS)}


WHOLE = st.none() | st.sampled_from([0, 1, 2, 3, 7, 9_999, 10_001, -1, 2**40, True])
TEXTS = st.none() | TEXT
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "properties": st.dictionaries(NAMES | TEXT, VALUES, max_size=7),
    "CorrelationId": TEXTS,
    "Subject": TEXTS,
    "To": TEXTS,
    "ReplyTo": TEXTS,
    "SessionId": TEXTS,
    "PartitionKey": TEXTS,
    "ContentType": TEXTS,
    "EnqueuedTimeUtc": st.none() | st.just("2026-03-14T15:00:00"),
    "ExpiresAtUtc": st.none() | st.sampled_from(["2026-03-14T15:00:00", "9999-12-31T23:59:59.9999999"]),
    "Strange": JSON,
}
TOLD = st.fixed_dictionaries({}, optional={**OTHERS, "DeliveryCount": WHOLE, "SequenceNumber": WHOLE})
"""What a host might tell of a message, as far as the worker lets it through; None for what it leaves out."""

ODD = WHOLE | st.sampled_from([1.5, "2", [], {}])
TOLD_OF_ONE_OF_MANY = st.fixed_dictionaries({}, optional={**OTHERS, "DeliveryCount": ODD, "SequenceNumber": ODD})
"""The same in a batch, of whose arrays the worker checks nothing."""
