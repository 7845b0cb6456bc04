"""Strategies for what any sender can write, and for the settings of any user, whatever the cloud."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st

from proof.ladders import ERRORS
from recoverable import Delayed, Exponential, Failed, Immediate, Recoverability

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

DURATIONS = st.integers(0, 2_400).map(lambda seconds: timedelta(seconds=seconds))

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

ENDS = st.lists(st.sampled_from([None, KeyError, ValueError, RecursionError]), min_size=1, max_size=6)
"""How the attempts of a handler end, one after the other, and then again from the first."""
