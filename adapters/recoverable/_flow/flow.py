"""Take messages through receipt, handler and recovery: one generator for both clouds, which does no I/O itself.

It yields a message and seconds to have the handler run on it for so long, and gets back None or what the handler raised.
It yields a `Call` to have a function called that may block, and gets back its result, or what it raised is raised here. A
driver does both: `drive` for plain handlers, `drive_async` for coroutines.
"""

from __future__ import annotations

from functools import partial

from recoverable._ladder.settlement import COMPLETE

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, TypeAlias

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Settlement
    from recoverable._message import Message

    Run: TypeAlias = tuple[Message, float]
    Steps: TypeAlias = Generator["Run | Call", Any, None]


class Call:
    """Call a function that may block, such as one that asks a store; the answer is its result.

    Args:
        function: the function, without arguments.
    """

    __slots__ = ("function",)

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function


def attempt_each(deliveries: Iterable[Delivery], invocation: Invocation, *, may_defer: bool = True) -> Steps:
    """Take each delivery through receipt, handler and recovery, and note its settlement on it.

    It ends early where what handlers sent must leave before the next one starts, and leaves the others in the iterator.

    Args:
        deliveries: the messages as they came; several generators may share one iterator.
        invocation: what they run in.
        may_defer: False when deferrals could not be sent, and handlers must run instead.
    """
    limiter, seconds_left, own_seconds = invocation.limiter, invocation.seconds_left, invocation.own_seconds
    context, observer = invocation.context, invocation.observer
    if invocation.recoverability.immediate.in_process:
        from recoverable._flow.outcomes import retried_in_process  # noqa: PLC0415  # for those who ask for it

        deliveries = retried_in_process(deliveries, invocation)
    for delivery in deliveries:
        plain = delivery.due_at is None and not delivery.unreported and not delivery.given_up and limiter is None
        settlement = None if plain else (yield from receive(delivery, invocation, may_defer=may_defer))
        if settlement is None:
            seconds = seconds_left()
            if seconds <= 0 or invocation.interruption is not None:
                from recoverable._flow.outcomes import hand_back  # noqa: PLC0415  # most messages need none of this

                settlement = hand_back(delivery, invocation)
            else:
                seconds = seconds if seconds < own_seconds else own_seconds  # noqa: FURB136  # min() costs each record more
                invocation.started += 1
                run = (message := delivery.message, seconds)
                message._outbox, message._context = invocation, context  # see outgoing.py and `Message.context`
                error = (yield run) if observer is None else (yield from observer.attempt(delivery, run))
                outbox, message._outbox = message._outbox, False
                invocation.finished += 1
                if error is None and outbox is invocation and limiter is None:
                    settlement = COMPLETE
                else:
                    settlement = yield from conclude(delivery, error, outbox, seconds, invocation)
                    error = None  # by its traceback it holds this frame, and with it the message
                    if settlement is None and invocation.must_send():
                        return
        delivery.settlement = settlement


def receive(
    delivery: Delivery, invocation: Invocation, *, may_defer: bool
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a delivery whose handler must not run now; None when it may; see `outcomes.settle_on_receipt`."""
    from recoverable._flow.outcomes import settle_on_receipt  # noqa: PLC0415  # as above

    settle = partial(settle_on_receipt, delivery, invocation, may_defer=may_defer)
    limiter = invocation.limiter
    blocks = limiter is not None and not limiter.is_untroubled(delivery)
    return (yield Call(settle)) if blocks else settle()


def conclude(
    delivery: Delivery, error: BaseException | None, outbox: Any, seconds: float, invocation: Invocation
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a delivery whose handler has ended, in all cases but the plainest; see `outcomes.settle_on_end`.

    None where what the handler sent is to be sent first.

    Raises:
        KeyboardInterrupt, SystemExit: where the invocation does not hold them until all is settled.
    """
    from recoverable._flow.outcomes import settle_on_end  # noqa: PLC0415  # as above

    if outbox is not invocation and error is None:
        invocation.outgoing.append((delivery, outbox, seconds))
        return None
    delivery.error = error
    if isinstance(error, KeyboardInterrupt | SystemExit):
        if not invocation.holds_interruptions:
            raise error  # a copy would come beside the original, which comes back
        invocation.interruption = error
    settle = partial(settle_on_end, delivery, seconds, invocation)
    limiter = invocation.limiter
    blocks = limiter is not None and (error is not None or limiter.alert)
    return (yield Call(settle)) if blocks else settle()
