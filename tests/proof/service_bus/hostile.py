"""Draw all that a sender can write to Service Bus, any settings of an endpoint, and metadata that a host may send."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from proof.hostile import COUNTS, DATES, JSON, NAMES, TEXT, VALUES, Platform, Reader
from proof.lineage import Origin, origin_from
from proof.service_bus.lineage import TRACE, traced
from proof.service_bus.replaying import problem_of_retry
from recoverable import Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld
from recoverable_local.testing.azure.fault_points import possible_faults

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
ENDPOINTS = st.fixed_dictionaries({"batch": st.booleans(), "lock": st.just(timedelta(minutes=1))})


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a message as `ServiceBusWorld.send` takes it."""
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
HOST_METADATA = st.fixed_dictionaries({}, optional={**OTHERS, "DeliveryCount": WHOLE, "SequenceNumber": WHOLE})
"""Metadata that a host might send for a message, as far as the worker accepts it; None for what it leaves out."""

ODD = WHOLE | st.sampled_from([1.5, "2", [], {}])
HOST_METADATA_IN_A_BATCH = st.fixed_dictionaries({}, optional={**OTHERS, "DeliveryCount": ODD, "SequenceNumber": ODD})
"""The same in a batch; the worker does not check its arrays."""


def serving_world(reader: Reader, ladder: Recoverability, endpoint: Mapping[str, Any]) -> ServiceBusWorld:
    """Return a world whose queue "jobs" the reader serves."""
    world = ServiceBusWorld(most_invocations=3_000)
    served = ServiceBusEndpoint(reader, ladder, queue="jobs", connection="ServiceBus", name="jobs", **endpoint)
    world.serve("jobs", served)
    return world


def origin_of(world: ServiceBusWorld, broker_id: str) -> Origin | None:
    """Return the origin of a broker message; None for what a sender sent."""
    return origin_from(world._register.contents[broker_id].application_properties().get(TRACE))


SERVICE_BUS = Platform(
    name="Service Bus",
    messages=messages(),
    endpoints=ENDPOINTS,
    read=lambda message: (message.body, dict(message.headers), message.sent_at, message.group_id),
    world=serving_world,
    traced=traced,
    sent_ids=lambda world: set(world._register.contents),
    origin_of=origin_of,
    retry_problem=problem_of_retry,
    possible_faults=possible_faults,
    unexpected=("dead-lettered",),  # an invocation fails whenever its message is to be redelivered
)
