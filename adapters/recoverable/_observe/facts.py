"""Hold the facts about what was decided for one delivery of a message, and what became of it."""

from __future__ import annotations

from recoverable._frozen import Frozen, field

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Literal

    from recoverable._ladder.decision import Outcome as Decided
    from recoverable._message import Message


class Facts(Frozen):
    """The facts about what was decided for one delivery of a message, without its body and the text of its exception.

    Args:
        message_id: the message's id, which stays the same over its copies.
        queue: the queue that it came from.
        attempt: the number of the attempt in its round, from 1.
        round: the number of delayed retries made before it.
        action: what becomes of the message; "complete" after a success, "deferral" for a wait that counts as no
            attempt, "undecided" where the decision itself raised, so that the message is redelivered.
        attempts: the number of attempts in each round, as the settings have it.
        deliveries: how often the broker has delivered this broker message.
        delay: how long it waits; None where it does not.
        error_queue: the queue that it moves to; "" unless it moves to one.
        exception_type: the full name of the exception's type; "" without one.
        unreported: True if the failure is that earlier deliveries ended without a recorded outcome.
        rate_limited: True if it waits because the rate is limited.
        handler_time: how long the handler ran; None where it did not.
        request_id: the host's id of the invocation; "" where it gave none.
        exception: the exception itself, as the handler raised it, for callbacks; no redactor has seen it, and `repr`
            leaves it out.
    """

    message_id: str
    queue: str
    attempt: int
    round: int
    action: Decided | Literal["complete", "undecided"]
    attempts: int = field(default=1, kw_only=True)
    deliveries: int = field(default=1, kw_only=True)
    delay: timedelta | None = field(default=None, kw_only=True)
    error_queue: str = field(default="", kw_only=True)
    exception_type: str = field(default="", kw_only=True)
    unreported: bool = field(default=False, kw_only=True)
    rate_limited: bool = field(default=False, kw_only=True)
    handler_time: timedelta | None = field(default=None, kw_only=True)
    request_id: str = field(default="", kw_only=True)
    exception: BaseException | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if name != "exception"}
        return f"Facts({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


class Outcome(Frozen):
    """The end of a decision about a message, or of its success, once its invocation is settled.

    Args:
        facts: the facts about it.
        message: the message, as this attempt got it.
        done: True if it was carried out: no copy was refused, no deletion made here failed, and nothing else was
            decided in its place.
        is_first: False for a second decision about one attempt, which was made because a copy was refused.
    """

    facts: Facts
    message: Message
    done: bool
    is_first: bool = True
