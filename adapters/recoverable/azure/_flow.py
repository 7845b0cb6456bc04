"""Take the messages of one invocation through the flow and send their copies.

A return completes them, an exception abandons them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, assert_never

from recoverable._flow.flow import attempt_each
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Complete, Forward, Redeliver, Settlement

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from datetime import timedelta

    from recoverable._flow.flow import Call, Run, Steps
    from recoverable._flow.invocation import Invocation
    from recoverable.azure._settle import Letter

Forwards: TypeAlias = list[tuple[Delivery, Forward]]


SendOutgoing: TypeAlias = "Callable[[Invocation], None]"


class Send(Protocol):
    """Sends copies, again and elsewhere where that helps; returns what no queue took."""

    def __call__(self, forwards: Forwards, *, once: bool = False) -> list[Letter]:
        """Send the copies; with `once`, try each send one time."""


class Abandoned(Exception):
    """Raised for a handler that raised a BaseException, which no host expects: the host then abandons the message."""

    __module__ = "recoverable.azure"  # the name under which users import it


def process_messages(
    deliveries: list[Delivery],
    invocation: Invocation,
    send: Send,
    wait: Callable[[timedelta], None],
    send_outgoing: SendOutgoing,
) -> Steps:
    """Run the handlers of an invocation, then send the copies, and last the deferrals.

    Copies are sent when all handlers have run: nothing is completed until the end, so copies that were sent before a
    crash are sent twice. Deferrals are sent last: when nothing takes a copy the whole batch is redelivered, and each
    deferral that was sent is then there twice.

    Args:
        deliveries: the messages.
        invocation: what they run in.
        send: sends copies.
        wait: waits out a delay before a message is abandoned, where sessions keep their order.
        send_outgoing: sends what the handlers sent that have succeeded, and notes the settlement of their messages.

    Raises:
        Exception: the handler's, or the reason why a copy could not be sent: the host abandons the messages.
    """
    forwards: Forwards = []
    deferrals: Forwards = []
    sorting = partial(sort, invocation=invocation, forwards=forwards, deferrals=deferrals, wait=wait)
    for delivery in deliveries:
        yield from attempt_each([delivery.message], invocation)
        if not invocation.outgoing or invocation.outgoing[-1][0] is not delivery:
            yield from sorting(delivery)
        elif delivery.message.group_id is not None:  # before the next message of its session runs
            yield from send_and_sort(invocation, send_outgoing, sorting)
    yield from send_and_sort(invocation, send_outgoing, sorting)
    yield from send_all(forwards, send)
    yield from send_deferrals(deferrals, invocation, send, send_outgoing)


def send_and_sort(invocation: Invocation, send_outgoing: SendOutgoing, sorting: Callable[[Delivery], Steps]) -> Steps:
    """Send what handlers sent so far, and sort the copies of all their messages."""
    if later := [delivery for delivery, *_ in invocation.outgoing]:
        yield partial(send_outgoing, invocation)
        for delivery in later:
            yield from sorting(delivery)


def sort(
    delivery: Delivery,
    invocation: Invocation,
    forwards: Forwards,
    deferrals: Forwards,
    wait: Callable[[timedelta], None],
) -> Generator[Run | Call, Any, None]:
    """Add the copy of a message that has its settlement to one of the lists, after its wait in place if it has one."""
    settlement = invocation.settlement_of(delivery)
    if isinstance(settlement, Redeliver) and settlement.after:
        yield partial(wait, settlement.after)
    is_deferral = delivery.error is None and not delivery.unreported and not delivery.given_up and not delivery.unsent
    (deferrals if is_deferral else forwards).extend(forwarded(delivery, settlement))


def send_deferrals(deferrals: Forwards, invocation: Invocation, send: Send, send_outgoing: SendOutgoing) -> Steps:
    """Send the copies of deferred messages; run the handler of a message whose copy cannot be sent."""
    if not deferrals:
        return
    try:
        left: set[Delivery] = yield lambda: {letter.delivery for letter in send(deferrals, once=True)}
    except Exception:  # noqa: BLE001  # such as a connection that is not set: the messages run instead
        left = {delivery for delivery, _ in deferrals}
    forwards: Forwards = []
    for delivery in [delivery for delivery, _ in deferrals if delivery in left]:
        yield from attempt_each([delivery.message], invocation, may_defer=False)
        if invocation.outgoing:
            yield partial(send_outgoing, invocation)
        forwards += forwarded(delivery, invocation.settlement_of(delivery))
    yield from send_all(forwards, send)


def forwarded(delivery: Delivery, settlement: Settlement | None) -> Forwards:
    """Return the delivery and its forwarding, if its settlement is one.

    Raises:
        Exception: the settlement is a redelivery: the handler's exception, for which the host abandons the message.
    """
    match settlement:
        case Redeliver():
            error = delivery.error
            if delivery.unsent and error is None:
                raise Abandoned("what the handler sent was not taken for now; the message is delivered again")
            raise error if isinstance(error, Exception) else Abandoned(repr(error)) from error
        case Forward() as forward:
            return [(delivery, forward)]
        case Complete():
            return []
        case None:
            raise Abandoned("it has no recorded settlement; the message is delivered again")
        case _:
            assert_never(settlement)


def send_all(forwards: Forwards, send: Send) -> Generator[Run | Call, Any, None]:
    """Send copies.

    Raises:
        CopyNotSent: no queue took one of them.
    """
    if forwards:
        left = yield partial(send, forwards)
        if left:
            from recoverable.azure._settle import CopyNotSent  # noqa: PLC0415  # it was imported to send

            to, error = left[0].ways[0].forward.to, left[0].failure and left[0].failure.error
            raise CopyNotSent(f"no copy could be sent to {to!r}: {type(error).__name__}: {error}") from error
