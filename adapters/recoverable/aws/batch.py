"""Run one invocation: its records group by group, each group settled before the next one runs."""

from __future__ import annotations

from recoverable.recovery.settlement import COMPLETE

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from recoverable.attempts.invocation import Invocation
    from recoverable.aws.order import Group
    from recoverable.aws.queues import Queue
    from recoverable.aws.time_budget import TimeBudget
    from recoverable.environment import Environment
    from recoverable.recovery.delivery import Delivery
    from recoverable.timeouts import Timeouts

    ProcessBatch: TypeAlias = Callable[..., list[Delivery]]
    RunHandlers: TypeAlias = Callable[[Iterator[Delivery], Invocation], object]


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
                from recoverable.aws.outgoing.dispatch import send_outgoing  # noqa: PLC0415  # for handlers that send

                send_outgoing(invocation, queue, environment, time, timeouts)
                run_handlers(rest, invocation)  # none, unless what the others sent had to leave first
        else:
            from recoverable.aws.order import hand_back_group  # noqa: PLC0415  # it was imported to order them

            hand_back_group(group, invocation)
            time.messages -= len(group)
        settled += len(group)
        succeeded = not [delivery for delivery in group if delivery.settlement is not COMPLETE]
        fails = invocation.interruption is not None or not (partial or (succeeded and not unfinished))
        # an invocation that fails has nothing deleted by the mapping, and a body may go only when its message has gone
        complete_now = fails or settled < len(deliveries) or invocation.delete_bodies is not None
        if complete_now or not succeeded:
            from recoverable.aws.settle import settle  # noqa: PLC0415  # the failure side of this platform

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
        from recoverable.aws.fifo.groups import groups as fifo_groups  # noqa: PLC0415  # for such queues

        return fifo_groups(deliveries, unfinished, invocation, time)
    from recoverable.aws.order import clear_reported, groups, hidden_for, settle_without_handler  # noqa: PLC0415  # most batches have no such record

    settle_without_handler(restored, invocation)
    clear_reported(restored, invocation.clock(), hidden_for(time))
    return groups(deliveries, lambda: time.is_over() or invocation.interruption is not None)
