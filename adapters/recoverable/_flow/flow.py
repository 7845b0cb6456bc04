"""Take messages through receipt, handler and recovery: one generator for both clouds, which does no I/O itself.

It yields a message and seconds to have the handler run on it for so long, and gets back None or what the handler raised.
It yields a `Call` to have a function called that may block, and gets back its result, or what it raised is raised here. A
driver does both: `drive` for plain handlers, `drive_async` for coroutines.
"""

from __future__ import annotations

from functools import partial

from recoverable._ladder.delivery import COMPLETE, delivery_of

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, TypeAlias

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery, Settlement
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


def attempt_each(messages: Iterable[Message], invocation: Invocation, *, may_defer: bool = True) -> Steps:
    """Take each message through receipt, handler and recovery, and record its settlement in the invocation.

    It ends early where what handlers sent must leave before the next one starts, and leaves the others in the iterator.

    Args:
        messages: the messages as they came; several generators may share one iterator.
        invocation: what they run in.
        may_defer: False when deferrals could not be sent, and handlers must run instead.
    """
    limiter, observer, context = invocation.limiter, invocation.observer, invocation.context
    settlements, seconds_left = invocation.settlements, invocation.deadline.seconds_left
    in_process = invocation.recoverability.immediate.in_process
    for message in retried(messages, invocation) if in_process else messages:
        if message._delivery is not None or limiter is not None:
            settlement = yield from receive(delivery_of(message), invocation, may_defer=may_defer)
            if settlement is not None:
                settlements[message] = settlement
                continue
        seconds = seconds_left()
        if seconds <= 0 or invocation.interruption is not None:
            from recoverable._flow.settle import hand_back  # noqa: PLC0415  # most messages need none of this

            settlements[message] = hand_back(delivery_of(message), invocation)
            continue
        invocation.started += 1
        message._outbox, message._context = invocation, context  # see outbox.py and `Message.context`
        run = (message, seconds)
        error = (yield run) if observer is None else (yield from observer.attempt(delivery_of(message), run))
        outbox, message._outbox = message._outbox, False
        invocation.finished += 1
        if error is None and outbox is invocation and limiter is None:
            settlements[message] = COMPLETE
            continue
        settlement = yield from conclude(delivery_of(message), error, outbox, seconds, invocation)
        error = None  # by its traceback it holds this frame, and with it the message
        if settlement is not None:
            settlements[message] = settlement
        elif invocation.must_send():
            return


def retried(messages: Iterable[Message], invocation: Invocation) -> Iterable[Message]:
    """Return the messages, each again for as long as it is to be retried at once; see `settle.retried_in_process`."""
    from recoverable._flow.settle import retried_in_process  # noqa: PLC0415  # for those who ask for it

    return retried_in_process(messages, invocation)


def receive(
    delivery: Delivery, invocation: Invocation, *, may_defer: bool
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a delivery whose handler must not run now; None when it may; see `settle.settle_on_receipt`."""
    limiter = invocation.limiter
    if limiter is None and not (delivery.due_at or delivery.unreported or delivery.given_up):
        return None
    from recoverable._flow.settle import settle_on_receipt  # noqa: PLC0415  # as above

    settle = partial(settle_on_receipt, delivery, invocation, may_defer=may_defer)
    blocks = limiter is not None and not limiter.is_untroubled(delivery)
    return (yield Call(settle)) if blocks else settle()


def conclude(
    delivery: Delivery, error: BaseException | None, outbox: Any, seconds: float, invocation: Invocation
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a delivery whose handler has ended, in all cases but the plainest.

    None where what the handler sent is to be sent first.

    Raises:
        KeyboardInterrupt, SystemExit: where the invocation does not hold them until all is settled.
    """
    from recoverable._flow.settle import settle_on_end  # noqa: PLC0415  # as above

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
