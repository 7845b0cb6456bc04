"""Strategies for all that a sender can write, within what SQS takes, and for the settings of a user."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from proof.ladders import ERRORS
from recoverable import Delayed, Exponential, Failed, Immediate, Recoverability
from recoverable.aws.wire import FOLDED, HEADERS

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), min_size=1, max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
COUNTS = st.sampled_from(["0", "1", "2", "9999", "10000", "10001", "-1", "٣", "1e3", "", "9" * 300])
DATES = st.sampled_from(
    [
        "2026-01-01 02:00:00:000000 Z",
        "2025-12-30 00:00:00:000000 Z",
        "9999-12-31 23:59:59:999999 Z",
        "0001-01-01 00:00:00:000000 Z",
        "2026-13-41 25:61:61:000000 Z",
    ]
)
NAMES = st.sampled_from(
    [
        "NServiceBus.MessageId",
        "NServiceBus.Retries",
        "NServiceBus.FLRetries",
        "NServiceBus.Retries.Timestamp",
        "NServiceBus.TimeSent",
        "NServiceBus.FailedQ",
        "NServiceBus.ExceptionInfo.StackTrace",
        "Recoverable.DueAt",
        "Recoverable.HeldSince",
        "Recoverable.FirstDelayedRetry",
        "S3BodyKey",
    ]
)
VALUES = COUNTS | DATES | TEXT | JSON
KINDS = st.sampled_from(["String", "Number", "Binary", "String.x", "String.\ud800", "Number.", "Nonsense"])
CONTENTS = st.sampled_from(["x", "1", "eA==", "\0", "\ud800", ""]) | VALUES
FOLDS = st.dictionaries(
    st.sampled_from(["a", "b", "a b", "AWS.x", HEADERS]) | TEXT,
    st.fixed_dictionaries({"dataType": KINDS, "stringValue": CONTENTS, "binaryValue": CONTENTS}),
    min_size=1,
    max_size=2,
)
HOSTILE_HEADERS = st.builds(
    lambda headers, folds: headers if folds is None else {**headers, FOLDED: json.dumps(folds)},
    st.dictionaries(NAMES | TEXT, VALUES, max_size=6),
    st.none() | FOLDS,
)
WRAPPED = st.builds(
    lambda headers, rest: json.dumps({**rest, "Headers": headers}),
    HOSTILE_HEADERS,
    st.dictionaries(st.sampled_from(["Body", "S3BodyKey", "TimeToBeReceived"]), VALUES),
)
ATTRIBUTES = st.dictionaries(
    NAMES | st.from_regex(r"[A-Za-z0-9_-]{1,9}", fullmatch=True),
    TEXT | DATES | st.binary(min_size=1, max_size=9) | st.integers(),
    max_size=9,
)
CARRIED = st.none() | TEXT | HOSTILE_HEADERS.map(json.dumps)
DURATIONS = st.integers(0, 2_400).map(lambda seconds: timedelta(seconds=seconds))


@st.composite
def sent(draw: st.DrawFn) -> dict[str, Any]:
    """A message as `SqsWorld.send` takes it."""
    attributes, carried = draw(ATTRIBUTES), draw(CARRIED)
    if carried is not None:
        attributes[HEADERS] = carried
    return {"body": draw(TEXT | WRAPPED), "attributes": attributes}


LADDERS = st.builds(
    Recoverability,
    st.builds(Immediate, st.integers(0, 2)),
    st.builds(
        Delayed,
        st.integers(0, 2),
        DURATIONS,
        backoff=st.none() | st.builds(Exponential, DURATIONS.filter(bool)),
        jitter=st.sampled_from([0.0, 0.5, 1.0]),
        max_total_time=st.none() | DURATIONS,
    ),
    st.builds(Failed, st.just(ERRORS), st.sampled_from([(), (KeyError,), (lambda error: 1 / 0,)])),
)
ENDPOINTS = st.fixed_dictionaries(
    {},
    optional={
        "counter": st.sampled_from(["native", "header"]),
        "longest_delay": st.sampled_from([timedelta(seconds=60), timedelta(seconds=900)]),
        "handler_timeout": st.sampled_from([timedelta(seconds=5)]),
        "settle_within": st.sampled_from([timedelta(0), timedelta(seconds=20)]),
    },
)
