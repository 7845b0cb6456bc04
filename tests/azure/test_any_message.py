"""Whatever a sender wrote into a message, its copies can be sent, and say the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient, encoded_size, properties
from azure.triggers import trigger_message
from builders import ERROR_QUEUE, QUEUE
from recoverable._service_bus.wire import MAX_PROPERTIES, weight
from recoverable.headers import DELAYED_RETRIES, DUE_AT, MESSAGE_ID, PRIOR_ATTEMPTS

letters = st.characters() | st.characters(categories=["Cs"])  # halves of characters too, which JSON can say
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(letters),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=3,
)
names = st.text(letters, min_size=1) | st.sampled_from([PRIOR_ATTEMPTS, DELAYED_RETRIES, DUE_AT, MESSAGE_ID])
field = st.none() | st.text(letters, min_size=1, max_size=20)


@settings(max_examples=300)
@given(
    body=st.binary(),
    written=st.dictionaries(names, anything, max_size=4),
    metadata=st.fixed_dictionaries({"CorrelationId": field, "Subject": field, "ReplyTo": field, "To": field}),
    count=st.integers(3, 8),
)
def test_every_last_attempt_makes_one_copy_that_can_be_sent(
    body: bytes, written: dict[str, Any], metadata: dict[str, Any], count: int
) -> None:
    client = RecordingClient()

    error = ended(endpoint(client=client), trigger_message(body, properties=written, DeliveryCount=count, **metadata))

    assert error is None
    [(queue, copy)] = client.sent
    assert queue in (QUEUE, ERROR_QUEUE)
    assert b"".join(copy.body) == body
    assert encoded_size(copy) > 0
    assert weight(properties(copy)) + weight(properties(copy).values()) <= MAX_PROPERTIES
