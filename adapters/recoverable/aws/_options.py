"""Check the settings of an SQS endpoint that most endpoints leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recoverable._limits import checked_delay
from recoverable._observe.extension import Setup
from recoverable._observe.parts import prepare
from recoverable._sqs.attributes import LONGEST_RETENTION, SHORTEST_RETENTION
from recoverable._sqs.clients import check_client, given_client
from recoverable._sqs.names import check_error_queue, names_source
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable.aws._time_budget import LONGEST_INVOCATION

__all__ = ["check_error_queue", "check_options", "names_source"]

if TYPE_CHECKING:
    from recoverable.aws._settings import SqsSettings


def check_options(settings: SqsSettings) -> Any:
    """Check those of an endpoint's settings that most endpoints leave out; return the client with the connections that it needs renewed.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range.
    """
    owner, settle_within = settings.owner, settings.settle_within
    checked_delay(f"{owner}(settle_within)", settle_within, LONGEST_INVOCATION)
    if settings.counter not in ("native", "header"):
        raise ValueError(f'{owner}(counter) is {settings.counter!r}; write "native" or "header"')
    check_durations(settings)
    check_timeouts(settings)
    prepare(settings.extensions, Setup("aws", owner, settings.recoverability, settle_within, settings.extensions))
    if settings.client is None:
        return None
    check_client(owner, settings.client)
    return given_client(settings.client)


def check_durations(settings: SqsSettings) -> None:
    """Check how long a copy waits, a handler runs and a message stays hidden.

    Raises:
        TypeError: one is no duration.
        ValueError: one is out of range.
    """
    owner, own, hidden, kept = settings.owner, settings.handler_timeout, settings.visibility_timeout, settings.retention
    if not checked_delay(f"{owner}(longest_delay)", settings.longest_delay, LONGEST_DELAY):
        raise ValueError(f"{owner}(longest_delay) is 0; write how long one copy may wait, up to 15 minutes")
    if own is not None and not checked_delay(f"{owner}(handler_timeout)", own, LONGEST_INVOCATION):
        raise ValueError(f"{owner}(handler_timeout) is 0; write how long a handler may run, or None")
    if hidden is not None:
        checked_delay(f"{owner}(visibility_timeout)", hidden, LONGEST_INVOCATION)
    if kept is not None and checked_delay(f"{owner}(retention)", kept, LONGEST_RETENTION) < SHORTEST_RETENTION:
        raise ValueError(f"{owner}(retention) is {kept}; write what the queue has, from 1 minute to 14 days, or None")


def check_timeouts(settings: SqsSettings) -> None:
    """Check the store of timeouts that an endpoint was given.

    Raises:
        TypeError: it is of another kind.
        ValueError: it cannot answer within the time for settling.
    """
    owner, timeouts, settle_within = settings.owner, settings.timeouts, settings.settle_within
    if timeouts is not None:
        if not hasattr(timeouts, "hold"):
            raise TypeError(f"{owner}(timeouts) is {timeouts!r}; write Timeouts(store), or None")
        if settle_within < timeouts.longest_hold:
            raise ValueError(
                f"{owner}(settle_within) is {settle_within}; with timeouts write at least {timeouts.longest_hold}, for a store that does not answer takes as long"
            )
