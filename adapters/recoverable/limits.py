"""The bounds on settings and delays, and on what comes from the wire."""

from __future__ import annotations

from datetime import timedelta

MAX_IMMEDIATE = 994
"""SQS allows a maxReceiveCount of 1,000 at most (SetQueueAttributes, RedrivePolicy), which must be immediate retries + 6."""

MAX_DELAYED = 1_000
"""More delayed retries than this end in the error queue, whatever a policy says: nothing retries for ever."""

MAX_COUNT = 10_000
"""A counter from the wire above this is no counter of ours and reads as 0."""

MAX_DELAY = timedelta(days=365)
"""The longest delay; a message that claims to be due later than this is due now."""

NO_DELAY = timedelta(0)
