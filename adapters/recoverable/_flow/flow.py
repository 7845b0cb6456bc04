"""Take messages through receipt, handler and recovery: one generator for both clouds, which does no I/O itself.

It yields a message and seconds to have the handler run on it for so long, and gets back None or what the handler raised.
It yields a function to have it called where it may block, and gets back its result, or what it raised is raised here. A
driver does both: `drive` for plain handlers, `drive_async` for coroutines. A flow may return an exception for the host.
"""

from __future__ import annotations

from recoverable._ladder.delivery import COMPLETE, delivery_of

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, TypeAlias

    from recoverable._flow.invocation import Invocation
    from recoverable._message import Message

    Run: TypeAlias = tuple[Message, float]
    Call: TypeAlias = Callable[[], Any]
    Steps: TypeAlias = Generator[Run | Call, Any, None]
    Flow: TypeAlias = Generator[Run | Call, Any, BaseException | None]


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
        delivery = message._delivery
        limited = limiter is not None and (limiter.alert or delivery is not None)
        if limited or (delivery and (delivery.due_at or delivery.unreported or delivery.given_up)):
            from recoverable._flow.settle import receive  # noqa: PLC0415  # the handlers of most messages just run

            settlement = yield from receive(message, invocation, may_defer=may_defer)
            if settlement is not None:
                settlements[message] = settlement
                continue
        seconds = seconds_left()
        if seconds <= 0 or invocation.interruption is not None:
            from recoverable._flow.settle import hand_back  # noqa: PLC0415  # as above

            settlements[message] = hand_back(delivery_of(message), invocation)
            continue
        invocation.started += 1
        message._outbox, message._context = invocation, context  # see outbox.py and `Message.context`
        run = (message, seconds)
        error = (yield run) if observer is None else (yield from observer.attempt(run))
        outbox, message._outbox = message._outbox, False
        invocation.finished += 1
        if error is None and outbox is invocation and (limiter is None or not limiter.alert):
            settlements[message] = COMPLETE
            continue
        from recoverable._flow.settle import conclude  # noqa: PLC0415  # as above

        settlement = yield from conclude(message, error, outbox, seconds, invocation)
        error = None  # by its traceback it holds this frame, and with it the message
        if settlement is not None:
            settlements[message] = settlement
        elif invocation.must_send():
            return


def retried(messages: Iterable[Message], invocation: Invocation) -> Iterable[Message]:
    """Return the messages, each again for as long as it is to be retried at once; see `settle.retried_in_process`."""
    from recoverable._flow.settle import retried_in_process  # noqa: PLC0415  # for those who ask for it

    return retried_in_process(messages, invocation)
