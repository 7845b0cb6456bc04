"""Define what an adapter must do with its broker: a closed union of three, for `match` and `assert_never`."""

from __future__ import annotations

from recoverable._frozen import Frozen

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta
    from typing import TypeAlias


class Complete(Frozen):
    """Complete the message: the broker deletes it."""


class Redeliver(Frozen):
    """Have the broker deliver the same message again.

    Args:
        after: how long it stays invisible; None leaves that as the broker has it.
    """

    after: timedelta | None


class Forward(Frozen):
    """Send a copy, and complete the message when the broker has confirmed the copy.

    Args:
        to: the queue.
        delay: how long the copy waits; never more than the platform can.
        changes: headers to set on the copy; None removes one.
    """

    to: str
    delay: timedelta
    changes: Mapping[str, str | None]


Settlement: TypeAlias = Complete | Redeliver | Forward
COMPLETE = Complete()
