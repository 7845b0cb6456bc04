"""Run one invocation: its records group by group, each group settled before the next one runs."""

from __future__ import annotations

from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import COMPLETE
from recoverable.aws._records import delivery_of, untouched_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from recoverable._flow.invocation import Invocation
    from recoverable._flow.untouched import Ran
    from recoverable._sqs.queues import Queue
    from recoverable.aws._order import Group
    from recoverable.aws._records import Record
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.hosting import Environment
    from recoverable.timeouts import Timeouts

    ProcessBatch: TypeAlias = Callable[..., list[Delivery]]
    RunHandlers: TypeAlias = Callable[[Iterator[Delivery], Invocation], object]


def process_records(
    records: list[Record],
    queue: Queue,
    run_handlers: RunHandlers,
    invocation: Invocation,
    time: TimeBudget,
    process: ProcessBatch | None,
    *,
    ran: Ran | None,
    untouched: bool,
    **named: Any,
) -> list[Delivery]:
    """Run and settle what is left of an invocation's records, and return those that SQS must deliver again; see `process_batch`.

    Args:
        records: the records.
        queue: where they came from.
        run_handlers: takes a group of deliveries through the flow.
        invocation: what the attempts run in.
        time: the invocation's time.
        process: what the settings put in the place of `process_batch`.
        ran: how the first of them have ended, where some have run.
        untouched: True if none of them was delivered before or carries headers.
        named: the other arguments of `process_batch`.
    """
    restored: list[Delivery] = []
    if untouched:
        deliveries = [Delivery(message) for message in untouched_messages(records, queue)]
    else:
        ladder, platform = invocation.recoverability, invocation.platform
        deliveries = [delivery_of(record, queue, ladder, platform, restored) for record in records]
    if ran is not None:
        run_handlers = run_rest(deliveries, ran, run_handlers)
    unfinished = (process or process_batch)(deliveries, restored, queue, run_handlers, invocation, time, **named)
    for delivery in deliveries:
        delivery.error = None  # by its traceback it holds its frames, and with them all messages
    return unfinished


def run_rest(deliveries: list[Delivery], ran: Ran, run_handlers: RunHandlers) -> RunHandlers:
    """Note on the deliveries how those ended that have run, and return a function that runs the handlers of the others."""
    succeeded, latest = ran
    deliveries[succeeded] = latest
    for delivery in deliveries[:succeeded]:
        delivery.settlement = COMPLETE
    ended = frozenset(deliveries[: succeeded + 1])

    def run(group: Iterator[Delivery], invocation: Invocation) -> None:
        if not invocation.must_send():
            run_handlers(filterfalse(ended.__contains__, group), invocation)

    return run


def process_batch(
    deliveries: list[Delivery],
    restored: list[Delivery],
    queue: Queue,
    run_handlers: RunHandlers,
    invocation: Invocation,
    time: TimeBudget,
    *,
    environment: Environment,
    timeouts: Timeouts | None,
    partial: bool,
) -> list[Delivery]:
    """Run and settle the records of one invocation, and return those that SQS must deliver again.

    Args:
        deliveries: the records.
        restored: those of them that were delivered before, or carry attributes of their own.
        queue: where they came from.
        run_handlers: takes a group of deliveries through the flow, or its first ones where what they send must leave first.
        invocation: what the attempts run in.
        time: the invocation's time.
        environment: what the invocation works with.
        timeouts: where copies are stored that must wait longer than SQS delays them; None where they hop.
        partial: True if the event source mapping deletes what is not reported.
    """
    unfinished: list[Delivery] = []
    settled = 0
    for group, runs in groups_of(deliveries, restored, unfinished, invocation, time, fifo=queue.fifo):
        if runs:
            run_handlers(rest := iter(group), invocation)
            while invocation.outgoing:
                from recoverable.aws._send import send_outgoing  # noqa: PLC0415  # for handlers that send

                send_outgoing(invocation, queue, environment, time, timeouts)
                run_handlers(rest, invocation)  # none, unless what the others sent had to leave first
        else:
            from recoverable.aws._order import hand_back_group  # noqa: PLC0415  # it was imported to order them

            hand_back_group(group, invocation)
            time.messages -= len(group)
        settled += len(group)
        succeeded = not [delivery for delivery in group if delivery.settlement is not COMPLETE]
        fails = invocation.interruption is not None or not (partial or (succeeded and not unfinished))
        # an invocation that fails has nothing deleted by the mapping, and a body may go only when its message has gone
        complete_now = fails or settled < len(deliveries) or invocation.delete_bodies is not None
        if complete_now or not succeeded:
            from recoverable.aws._settle import settle  # noqa: PLC0415  # the failure side of this platform

            unfinished += settle(group, queue, environment, time, timeouts, invocation, complete_now=complete_now)
    return unfinished


def groups_of(
    deliveries: list[Delivery],
    restored: list[Delivery],
    unfinished: list[Delivery],
    invocation: Invocation,
    time: TimeBudget,
    *,
    fifo: bool,
) -> Iterable[Group]:
    """Return the deliveries in groups, each to be settled before the next one is asked for; see `order.groups` and `fifo.groups`.

    Untouched records of a standard queue run together, and an untouched record of a FIFO queue that came alone.
    """
    if not restored and (not fifo or len(deliveries) == 1):
        return [(deliveries, True)]
    if fifo:
        from recoverable.aws._fifo.groups import groups as fifo_groups  # noqa: PLC0415  # for such queues

        return fifo_groups(deliveries, unfinished, invocation, time)
    from recoverable.aws._order import clear_reported, groups, hidden_for, settle_without_handler  # noqa: PLC0415  # most batches have no such record

    settle_without_handler(restored, invocation)
    clear_reported(restored, invocation.clock(), hidden_for(time))
    return groups(deliveries, lambda: time.is_over() or invocation.interruption is not None)
