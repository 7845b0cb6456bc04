"""Take an exception group for what it holds: `asyncio.TaskGroup` puts even one exception into a group."""

from __future__ import annotations

from recoverable._errors import TimeUp
from recoverable._unreadable import linked, members

PLAIN_GROUPS = (ExceptionGroup, BaseExceptionGroup)
"""The groups that say nothing but what they hold; a subclass is its author's own."""

MOST_NAMED = 100
"""Leaves of a group that are read and named at most."""


def leaves(exception: BaseException) -> list[BaseException]:
    """Return the exceptions in a group that are no groups, each once, however deep they are; of any other exception, itself."""
    if not isinstance(exception, BaseExceptionGroup):
        return [exception]
    return [each for each in linked(exception, members) if not isinstance(each, BaseExceptionGroup)]


def ungrouped(exception: BaseException) -> BaseException:
    """Return the one leaf of a plain group; any other exception as it is."""
    if type(exception) in PLAIN_GROUPS and len(inside := leaves(exception)) == 1:
        return inside[0]
    return exception


def failure_in(raised: BaseException) -> BaseException:
    """Return how an attempt failed: by our stop where a group holds that, else by an interruption in it, else by what was raised."""
    if isinstance(raised, BaseExceptionGroup):
        inside = leaves(raised)
        for kind in (TimeUp, KeyboardInterrupt | SystemExit):
            for leaf in inside:
                if isinstance(leaf, kind):
                    return leaf
    return raised
