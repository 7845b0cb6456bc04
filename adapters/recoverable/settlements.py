"""What an adapter must do with its broker: a closed union of three, for `match` and `assert_never`."""

from __future__ import annotations

from .frozen import Frozen

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta
    from typing import TypeAlias


class Complete(Frozen):
    """The message is done with."""

    __slots__ = ()


class Redeliver(Frozen):
    """The broker delivers the same message again.

    Args:
        after: how long it stays out of sight; None leaves that as the broker has it.
    """

    __slots__ = ("after",)
    after: timedelta | None

    def __init__(self, after: timedelta | None) -> None:
        self._assign(after=after)


class Forward(Frozen):
    """A copy is sent, and when it is safely there the message is done with.

    Args:
        to: the queue.
        delay: how long the copy waits; never more than the platform can.
        changes: headers to set on the copy; None takes one away.
    """

    __slots__ = ("changes", "delay", "to")
    to: str
    delay: timedelta
    changes: Mapping[str, str | None]

    def __init__(self, to: str, delay: timedelta, changes: Mapping[str, str | None]) -> None:
        self._assign(to=to, delay=delay, changes=changes)


Settlement: TypeAlias = Complete | Redeliver | Forward
COMPLETE = Complete()
