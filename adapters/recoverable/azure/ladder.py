"""One invocation as a row of steps, run the handler or send copies, and the two drivers that take them: plain and coroutine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, assert_never

from ..attempt import FOREVER, run
from ..delivery import Delivery
from ..settlements import Complete, Forward, Redeliver

if TYPE_CHECKING:
    from ..attempt import Invocation
    from ..gate import Gate
    from ..messages import Message
    from ..settlements import Settlement


class Run(NamedTuple):
    """Run the handler; the answer is how it ended: None, or what it raised."""

    message: Message


Forwards: TypeAlias = list[tuple[Delivery, Forward]]


class Send(NamedTuple):
    """Send the copies; the answer is None, or why one could not be sent."""

    forwards: Forwards


class Decide(NamedTuple):
    """Decide, which may ask or change the circuit that limits the rate, and call back; the answer is what was decided."""

    decide: Callable[[], float | Settlement]


Step: TypeAlias = Run | Send | Decide
Answer: TypeAlias = Any
"""What a step says that it is."""

Steps: TypeAlias = Generator[Step, Answer, None]
Sending: TypeAlias = Callable[[Forwards], None]


class Abandoned(Exception):
    """Raised so that the host abandons a message whose handler raised what no host expects, such as a cancellation."""


def steps(deliveries: list[Delivery], invocation: Invocation, gate: Gate | None = None) -> Steps:
    """All that an invocation does, up to its end: a return has the host complete its messages, an exception abandon them.

    Copies are sent when all handlers have run, for until the end nothing is completed: what was sent before a death is sent twice. And
    deferrals after what must be sent, for what is refused has the whole batch come again, with each deferral that was sent.
    """
    forwards: Forwards = []
    deferrals: Forwards = []
    for delivery in deliveries:
        answer = yield from received(delivery, invocation, gate)
        if isinstance(answer, Forward) and not delivery.wordless:
            deferrals.append((delivery, answer))
        else:
            forwards += yield from settled(delivery, answer, invocation, gate)
    yield from all_sent(forwards)
    yield from deferred(deferrals, invocation, gate)


def deferred(deferrals: Forwards, invocation: Invocation, gate: Gate | None) -> Steps:
    """Messages that are to wait; one that cannot be sent has its handler run instead."""
    forwards: Forwards = []
    for delivery, forward in deferrals:
        if (yield Send([(delivery, forward)])) is not None:
            answer = invocation.received(delivery, may_defer=False)
            forwards += yield from settled(delivery, answer, invocation, gate)
    yield from all_sent(forwards)


def all_sent(forwards: Forwards) -> Steps:
    """Send what must be sent.

    Raises:
        Exception: why it could not be.
    """
    if forwards and (error := (yield Send(forwards))) is not None:
        raise error


def received(
    delivery: Delivery, invocation: Invocation, gate: Gate | None
) -> Generator[Step, Answer, float | Settlement]:
    """What becomes of a delivery."""
    if gate is None or gate.is_untroubled(delivery):
        return invocation.received(delivery)
    decided: float | Settlement = yield Decide(lambda: invocation.received(delivery))
    return decided


def settled(
    delivery: Delivery, answer: float | Settlement, invocation: Invocation, gate: Gate | None
) -> Generator[Step, Answer, Forwards]:
    """One message after its receipt, through handler and recovery where it may run; gives what is to be sent for it."""
    settlement = (
        (yield from attempted(delivery, answer, invocation, gate)) if isinstance(answer, float) else answer
    )
    return [(delivery, settlement)] if isinstance(settlement, Forward) else []


def attempted(
    delivery: Delivery, seconds: float, invocation: Invocation, gate: Gate | None
) -> Generator[Step, Answer, Settlement]:
    """One attempt."""
    error = yield Run(delivery.message)
    if isinstance(error, KeyboardInterrupt | SystemExit):
        raise error  # undecided: a copy beside a message that is abandoned would be a second one
    if gate is None or (error is None and not gate.breaker.alert):
        return settled_or_abandoned(invocation.ended(delivery, error, seconds), error)
    settlement = yield Decide(lambda: invocation.ended(delivery, error, seconds))
    return settled_or_abandoned(settlement, error)


def settled_or_abandoned(settlement: Settlement, error: BaseException | None) -> Settlement:
    """The settlement; where the same message is to be redelivered, the handler's exception makes the host do so."""
    match settlement:
        case Redeliver():
            raise error if isinstance(error, Exception) else Abandoned(repr(error)) from error
        case Complete() | Forward():
            return settlement
        case _:
            assert_never(settlement)


def drive(steps: Steps, handler: Callable[[Message], Any], send: Sending) -> None:
    """Take the steps with a plain handler."""
    answer: Answer = None
    while (step := following(steps, answer)) is not None:
        match step:
            case Run(message):
                answer = run(handler, message, FOREVER, None)
            case Send():
                answer = sent(send, step)
            case Decide(decide):
                answer = decide()
            case _:
                assert_never(step)


async def drive_coroutine(steps: Steps, handler: Callable[[Message], Awaitable[Any]], send: Sending) -> None:
    """Take the steps with a coroutine handler; what sends, asks or calls back blocks, and does so in a thread."""
    from asyncio import to_thread  # noqa: PLC0415  # only who awaits pays for asyncio

    from .. import coroutines  # noqa: PLC0415  # as above

    answer: Answer = None
    while (step := following(steps, answer)) is not None:
        match step:
            case Run(message):
                answer = await coroutines.run(handler, message, FOREVER)
            case Send():
                answer = await to_thread(sent, send, step)
            case Decide(decide):
                answer = await to_thread(decide)
            case _:
                assert_never(step)


def following(steps: Steps, answer: Answer) -> Step | None:
    """The next step; None when there is none."""
    try:
        return steps.send(answer)
    except StopIteration:
        return None


def sent(send: Sending, step: Send) -> BaseException | None:
    """How sending ended."""
    try:
        send(step.forwards)
    except Exception as error:  # noqa: BLE001  # the steps raise it, or go another way
        return error
    return None
