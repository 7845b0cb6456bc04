"""Run one invocation: its records group by group, each group settled before the next one runs."""

from __future__ import annotations

from recoverable._ladder.settlement import COMPLETE

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._sqs.queues import Queue
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.hosting import Environment
    from recoverable.timeouts import Timeouts

    Group: TypeAlias = tuple[list[Message], bool]
    ProcessBatch: TypeAlias = Callable[..., list[Delivery]]
    RunHandlers: TypeAlias = Callable[[Iterator[Message], Invocation], object]


def process_batch(
    messages: list[Message], restored: list[Delivery], queue: Queue, run_handlers: RunHandlers,
    invocation: Invocation, time: TimeBudget, *, environment: Environment, timeouts: Timeouts | None, partial: bool,
) -> list[Delivery]:  # fmt: skip
    """Run and settle the records of one invocation, and return those that SQS must deliver again.

    Args:
        messages: the records.
        restored: the deliveries of those that were delivered before, or carry headers.
        queue: where they came from.
        run_handlers: takes a group of messages through the flow, or its first ones where what they send must leave first.
        invocation: what the attempts run in.
        time: the invocation's time.
        environment: what the invocation works with.
        timeouts: where copies are stored that must wait longer than SQS delays them; None where they hop.
        partial: True if the event source mapping deletes what is not reported.
    """
    unfinished: list[Delivery] = []
    settlements, settled = invocation.settlements, 0
    for group, runs in groups_of(messages, restored, unfinished, invocation, time):
        if runs:
            run_handlers(rest := iter(group), invocation)
            while invocation.outgoing:
                from recoverable.aws._send import send_outgoing  # noqa: PLC0415  # for handlers that send

                send_outgoing(invocation, queue, environment, time, timeouts)
                run_handlers(rest, invocation)  # none, unless what the others sent had to leave first
        else:
            from recoverable.aws._order import hand_back_group  # noqa: PLC0415  # it was imported to order them

            hand_back_group(group, invocation, time)
        settled += len(group)
        succeeded = [*map(settlements.get, group)].count(COMPLETE) == len(group)
        if not (succeeded or partial):
            from recoverable.aws._settle import are_completed  # noqa: PLC0415  # as below

            succeeded = are_completed(group, invocation)
        fails = invocation.interruption is not None or not (partial or (succeeded and not unfinished))
        # an invocation that fails has nothing deleted by the mapping, and a body may go only when its message has gone
        complete_now = fails or settled < len(messages) or invocation.delete_bodies is not None
        if complete_now or not succeeded:
            from recoverable.aws._settle import settle  # noqa: PLC0415  # the failure side of this platform

            unfinished += settle(group, queue, environment, time, timeouts, invocation, complete_now=complete_now)
    return unfinished


def groups_of(
    messages: list[Message], restored: list[Delivery], unfinished: list[Delivery], invocation: Invocation, time: TimeBudget
) -> Iterable[Group]:  # fmt: skip
    """Return the messages in groups, each to be settled before the next one is asked for; see `_order.groups` and `_fifo.groups_in_order`.

    New messages of a standard queue run together, and a new message of a FIFO queue that came alone.
    """
    fifo = invocation.platform.redelivers_only
    if not restored and (not fifo or len(messages) == 1):
        return ((messages, True),)
    if fifo:
        from recoverable.aws._fifo import fifo_batch  # noqa: PLC0415  # for such queues

        return fifo_batch(messages, unfinished, invocation, time)
    from recoverable.aws._order import standard_batch  # noqa: PLC0415  # most batches have no such record

    return standard_batch(messages, restored, invocation, time)
