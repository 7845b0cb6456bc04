"""Take messages through receipt, handler and recovery: one generator for both clouds, and what drives it with a plain handler.

The generator does no I/O itself. It yields a message and seconds to have the handler run on it for so long, and gets
back None or the exception that the handler raised. It yields a function to have it called where it may block, and gets
back its result, or has its exception raised. `drive` does both for plain handlers, `drive_async` for coroutines. A flow
may return an exception for the host.
"""

from __future__ import annotations

from recoverable._flow.deadline import FOREVER, TOLERANCE
from recoverable._ladder.settlement import COMPLETE

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, TypeAlias

    from recoverable._flow.deadline import Deadline
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
    again = invocation.recoverability.immediate.in_process or invocation.seconds_in_place is not None
    for message in retried(messages, invocation) if again else messages:
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
            from recoverable._flow.settle import not_started  # noqa: PLC0415  # as above

            settlements[message] = not_started(message, invocation)
            continue
        invocation.started += 1
        message._outbox, message._context = invocation, context  # see outbox.py and `Message.context`
        error = (yield message, seconds) if observer is None else (yield from observer.attempt((message, seconds)))
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
    """Return the messages, each again for as long as it is to be attempted again here; see `settle.retried_in_process`."""
    from recoverable._flow.settle import retried_in_process  # noqa: PLC0415  # few endpoints ask for it

    return retried_in_process(messages, invocation)


def attempt_all(messages: Iterable[Message], invocation: Invocation, handler: Callable[[Message], Any]) -> None:
    """Take messages through the flow with a plain handler; all of them, unless `attempt_each` ends early."""
    drive(attempt_each(messages, invocation), handler, invocation.deadline)


def drive(steps: Flow, handler: Callable[[Message], Any], deadline: Deadline) -> BaseException | None:
    """Do all steps of a flow with a plain handler, and return what it returns.

    Args:
        steps: the flow.
        handler: the user's function. Any exception of it goes back into the flow: a lost error is a lost message.
        deadline: stops it when its time is up.
    """
    observed, error = deadline.observed(handler), None
    try:
        step = next(steps)
        while True:
            if not isinstance(step, tuple):
                step = call(steps, step)
                continue
            message, seconds = step
            error = None
            try:
                try:
                    deadline.inside = True
                    if deadline.rings > deadline.ends + TOLERANCE:
                        deadline.arm()
                    result = observed(message)
                finally:
                    deadline.inside = False  # the timer runs on, for setting it costs time
                if result is not None:
                    finish(result, seconds, deadline)
            except BaseException as raised:  # noqa: BLE001  # recovery decides about each of them
                error = raised
            step = steps.send(error)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # as `Flow` says
    finally:
        del error  # it holds this frame by its traceback, and with it the message


def finish(result: Any, seconds: float, deadline: Deadline) -> None:
    """Run to its end an awaitable that a plain handler returned, so that no message is completed before it is handled.

    Args:
        result: what the handler returned.
        seconds: how long the handler may run.
        deadline: knows when that time ends: what the function itself took is gone.

    Raises:
        TypeError: it is a generator; what the awaited work raises passes as it is.
    """
    if hasattr(result, "__await__"):
        from recoverable._flow.event_loop import run_in_loop, within  # noqa: PLC0415  # asyncio, when there is something to await

        if seconds != FOREVER:
            seconds = max(deadline.ends - deadline.now(), 0.0)
        result = run_in_loop(within(seconds, result))
    from recoverable._flow.signatures import refuse_generator  # noqa: PLC0415  # most handlers return nothing

    refuse_generator(result)


def call(steps: Flow, function: Call) -> Run | Call:
    """Call a function of the flow, and return the step that follows its result, or what it raised."""
    try:
        answer = function()
    except Exception as error:  # noqa: BLE001  # the flow handles it, or ends with it
        return steps.throw(error)
    return steps.send(answer)
