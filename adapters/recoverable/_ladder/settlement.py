"""Define what a platform counts and can do, and how it settles a delivery."""

from __future__ import annotations

from recoverable._frozen import Frozen, field

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta
    from typing import Literal, TypeAlias

    from recoverable._ladder.delivery import Delivery

    Counter: TypeAlias = Literal["native", "header"]


class Platform(Frozen):
    """A description of what the platform counts and can do.

    Args:
        counter: "native" where the broker counts deliveries and an immediate retry redelivers the same message;
            "header" where an immediate retry is a copy that carries the count.
        redelivers_only: True if retries redeliver the same message after a time, and copies go to the error queue alone
            (SQS FIFO).
        immediate_retries: True if it can make immediate retries.
        delayed_retries: True if it can make delayed retries.
        longest_delay: the longest delay of one copy; longer delays hop, and where messages are only redelivered they
            are refused. None when there is no limit.
        shared_process: True if all messages of a process that died are delivered again together, in an order that
            cannot be chosen (Functions).
        sessions: True if the queue has sessions.
        text_log: True if the host's log keeps nothing but the text of a line (Functions).
        is_source: returns True if a name, as a policy writes it, is that of the queue that a delivery came from; None
            to compare it with the queue's name.
        key_of: returns what the broker knows a message by over its deliveries, and over all queues; None where nothing is remembered.
        host: the host's name for operators.
        machine: the instance's name for operators; "" where the platform names none.
    """

    counter: Counter = "native"
    redelivers_only: bool = field(default=False, kw_only=True)
    immediate_retries: bool = field(default=True, kw_only=True)
    delayed_retries: bool = field(default=True, kw_only=True)
    longest_delay: timedelta | None = field(default=None, kw_only=True)
    shared_process: bool = field(default=False, kw_only=True)
    sessions: bool = field(default=False, kw_only=True)
    text_log: bool = field(default=False, kw_only=True)
    is_source: Callable[[str, Delivery], bool] | None = field(default=None, kw_only=True)
    key_of: Callable[[Delivery], object] | None = field(default=None, kw_only=True)
    host: str = field(default="", kw_only=True)
    machine: str = field(default="", kw_only=True)


class Complete(Frozen):
    """Complete the message: the broker deletes it."""


class Redeliver(Frozen):
    """Have the broker deliver the same message again.

    Args:
        after: how long it stays invisible; None leaves that as the broker has it.
        in_place: True if it waits for so long in its invocation, where its handler then runs again.
    """

    after: timedelta | None
    in_place: bool = field(default=False, kw_only=True)


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
"""What an adapter must do with its broker: a closed union of three, for `match` and `assert_never`."""

COMPLETE = Complete()
