"""Take messages through receipt, handler and recovery: one generator for both clouds, and what drives it with a plain handler.

The generator does no I/O itself. It yields messages (one, today) and seconds to have the handler run on them for so long, and gets
back None or the exception that the handler raised. It yields a function to have it called where it may block, and gets
back its result, or has its exception raised. `drive` does both for plain handlers, `drive_async` for coroutines. A flow
may return an exception for the host.
"""

from __future__ import annotations

from recoverable._flow.deadline import FOREVER, SIGALRM, getsignal
from recoverable._flow.handlers import refuse_generator
from recoverable._ladder.settlement import COMPLETE

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, TypeAlias

    from recoverable._flow.deadline import Deadline
    from recoverable._flow.invocation import Invocation
    from recoverable._message import Message

    Run: TypeAlias = tuple[tuple[Message, ...], float]
    Ran: TypeAlias = tuple[
        BaseException | None, Any, float
    ]  # what a handler raised, what it sent, and for how long it might run
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
    settlements, seconds_left, context = invocation.settlements, invocation.deadline.seconds_left, invocation.context
    gates = invocation.gates
    for message in messages:
        known = message._delivery
        is_plain = known is None or (known.is_plain and not gates)
        if is_plain and invocation.plain and (seconds := seconds_left()) > 0:
            invocation.started += 1
            message._outbox, message._context = invocation, context  # see outbox.py and `Message.context`
            error = yield (message,), seconds
            outbox, message._outbox = message._outbox, False
            invocation.finished += 1
            if error is None and outbox is invocation and invocation.plain:
                settlements[message] = COMPLETE
                continue
            ran: Ran | None = (error, outbox, seconds)
            error = None  # an exception holds this frame by its traceback, and with it the message
        else:
            ran = None
        from recoverable._flow.settle import take_on  # noqa: PLC0415  # door: to all but a message that comes for the first time and succeeds

        if not (yield from take_on(message, invocation, ran, may_defer=may_defer)):
            return


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
            if type(step) is not tuple:
                step = call(steps, step)  # type: ignore[arg-type]  # what is no tuple is a call
                continue
            (message,), seconds = step
            error = None
            try:
                try:
                    deadline.inside = True
                    if deadline.rings > deadline.ends or (
                        (ours := deadline.handler) is not None and getsignal(SIGALRM) is not ours
                    ):
                        deadline.arm()
                    result = observed(message)
                finally:
                    deadline.inside = False  # the timer runs on, for setting it costs time
                if result is not None:
                    finish(result, seconds, deadline)
            except BaseException as raised:  # noqa: BLE001  # recovery decides about each of them
                error = deadline.failure(raised)
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
        if seconds != FOREVER:
            seconds = max(deadline.ends - deadline.now(), 0.0)
        result = run_awaitable(result, seconds)
    refuse_generator(result)


def run_awaitable(awaitable: Any, seconds: float = FOREVER) -> Any:
    """Run an awaitable to its end in the thread's event loop, in so many seconds, and return its result."""
    return coroutines().run_in_loop(coroutines().within(seconds, awaitable))


def coroutines() -> Any:
    """Return the module that runs coroutines."""
    import recoverable._flow.drive_async as module  # noqa: PLC0415  # door: to coroutines, which bring asyncio

    return module


def call(steps: Flow, function: Call) -> Run | Call:
    """Call a function of the flow, and return the step that follows its result, or what it raised."""
    try:
        answer = function()
    except Exception as error:  # noqa: BLE001  # the flow handles it, or ends with it
        return steps.throw(error)
    return steps.send(answer)
