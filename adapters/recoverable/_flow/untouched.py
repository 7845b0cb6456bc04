"""Run a plain handler on messages that come for the first time: what each record of most batches costs."""

from __future__ import annotations

from recoverable._flow.deadline import TOLERANCE

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any, Protocol, TypeAlias

    from recoverable._flow.deadline import Deadline
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message

    Ran: TypeAlias = tuple[int, Delivery]

    class Time(Protocol):
        """Says when handlers must have ended, in seconds of `Deadline.now`."""

        handlers_end: float
        look_at: float

        def look(self, moment: float, /) -> None:
            """Reckon `handlers_end` anew; called before a handler starts, from `look_at` on."""


def run_untouched(
    messages: Iterator[Message],
    invocation: Invocation,
    time: Time,
    deadline: Deadline,
    handler: Callable[[Message], Any],
) -> Ran | None:
    """Run the handler on one message after the other, as `flow.attempt_each` does, until one needs more than to be completed.

    It is written out in one piece, for each call would cost every good record a twentieth more.

    Args:
        messages: the messages, each of them made when its turn comes.
        invocation: what they run in; nobody observes, and the rate is not limited when it begins.
        time: the invocation's time.
        deadline: stops the handler.
        handler: the user's function.

    Returns:
        How many have succeeded, and the delivery of the one after them, which has been through the flow: its handler failed, sent
        something, or had no time to start. None when all have succeeded.
    """
    now, call, context, finished = deadline.now, deadline.observed(handler), invocation.context, 0
    for message in messages:  # `enumerate` would cost each of them more than counting
        moment = now()
        if moment >= time.look_at:
            invocation.finished = finished
            time.look(moment)
        ends = time.handlers_end
        if moment >= ends:
            return finished, handed_back(message, finished, invocation)
        message._outbox, message._context = invocation, context  # see outgoing.py and `Message.context`
        error = None
        try:
            try:
                deadline.ends, deadline.inside = ends, True
                if deadline.rings > ends + TOLERANCE:
                    deadline.arm(ends - moment)
                result = call(message)
            finally:
                deadline.inside = False
            if result is not None:
                from recoverable._flow.drive import finish  # noqa: PLC0415  # most handlers return nothing

                finish(result, ends - moment, deadline)
        except BaseException as raised:  # noqa: BLE001  # recovery decides about each of them
            error = raised
        outbox, message._outbox = message._outbox, False
        if error is not None or outbox is not invocation:
            try:
                return finished, concluded(message, finished, error, outbox, ends - moment, invocation)
            finally:
                del error  # it holds this frame, and with it the message, by its traceback
        finished += 1  # noqa: SIM113  # as said
    return None


def handed_back(message: Message, finished: int, invocation: Invocation) -> Delivery:
    """Return the delivery of a message whose handler has no time to start, after so many that have finished."""
    from recoverable._flow.outcomes import hand_back  # noqa: PLC0415  # the failure side
    from recoverable._ladder.delivery import Delivery  # noqa: PLC0415  # as above

    invocation.started = invocation.finished = finished
    delivery = Delivery(message)
    delivery.settlement = hand_back(delivery, invocation)
    return delivery


def concluded(
    message: Message, finished: int, error: BaseException | None, outbox: Any, seconds: float, invocation: Invocation
) -> Delivery:
    """Return the delivery of a message whose handler has failed or sent something, after so many that have finished; see `flow.conclude`."""
    from recoverable._flow.drive import drive  # noqa: PLC0415  # the failure side
    from recoverable._flow.flow import conclude  # noqa: PLC0415  # as above
    from recoverable._ladder.delivery import Delivery  # noqa: PLC0415  # as above

    invocation.started = invocation.finished = finished + 1
    delivery = Delivery(message)

    def steps() -> Generator[Any, Any, None]:
        delivery.settlement = yield from conclude(delivery, error, outbox, seconds, invocation)

    drive(steps(), bool)  # it runs no handler
    return delivery
