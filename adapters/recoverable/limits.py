"""Define the bounds on settings and delays, and on counters and dates in headers."""

from __future__ import annotations

from datetime import timedelta

MAX_IMMEDIATE = 994
"""SQS allows a maxReceiveCount of 1,000 at most (SetQueueAttributes, RedrivePolicy), which must be immediate retries +
6."""

MAX_DELAYED = 1_000
"""After this many delayed retries a message moves to the error queue, whatever a policy says: nothing retries for
ever."""

MAX_COUNT = 10_000
"""A counter in a header above this was not written by this package and reads as 0."""

MAX_DELAY = timedelta(days=365)
"""The longest delay; a message that claims to be due later than this is due now."""

NO_DELAY = timedelta(0)
