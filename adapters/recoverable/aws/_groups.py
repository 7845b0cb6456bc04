"""Run and settle the records of one invocation in groups, each before the next one runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from recoverable._flow.for_host import failure_for_host
from recoverable._ladder.delivery import delivery_of
from recoverable._ladder.settlement import COMPLETE
from recoverable.aws._fifo import fifo_batch
from recoverable.aws._order import hand_back_group, standard_batch
from recoverable.aws._send import send_outgoing
from recoverable.aws._settle import are_completed, settle
from recoverable.aws._undeleted import is_denied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable.aws._batch import Batch, RunHandlers

    Group: TypeAlias = tuple[list[Message], bool]
    """Messages that are settled together, and whether their handlers run; else those without a settlement are handed back."""


def process_groups(batch: Batch, run_handlers: RunHandlers, started: Iterator[Message] | None = None) -> list[Delivery]:
    """Run and settle the records, each group before the next one runs; return those that SQS must deliver again.

    Args:
        batch: the records.
        run_handlers: takes a group of messages through the flow.
        started: what is left of the one group of the batch, where its handlers have run; None where none has.
    """
    invocation, settlements, settled = batch.invocation, batch.invocation.settlements, 0
    unfinished: list[Delivery] = []
    for group, runs in groups_of(batch, unfinished):
        if runs:
            rest = started or iter(group)
            if started is None:
                run_handlers(rest, invocation)
            while invocation.outgoing:
                send_outgoing(batch)
                run_handlers(rest, invocation)  # none, unless what the others sent had to leave first
        else:
            hand_back_group(group, batch)
        settled += len(group)
        delete_here = deletes_here(group, batch)
        succeeded = [*map(settlements.get, group)].count(COMPLETE) == len(group)
        if not (succeeded or batch.partial):
            succeeded = are_completed(group, invocation)
        fails = invocation.interruption is not None or not (batch.partial or (succeeded and not unfinished))
        # an invocation that fails has nothing deleted by the mapping
        complete_now = fails or settled < len(batch.messages) or delete_here
        if complete_now or not succeeded:
            unfinished += settle(group, batch, complete_now=complete_now)
    return unfinished


def groups_of(batch: Batch, unfinished: list[Delivery]) -> Iterable[Group]:
    """Return the messages in groups, each to be settled before the next one is asked for; see `_order.groups` and `_fifo.fifo_batch`.

    New messages of a standard queue run together, and a new message of a FIFO queue that came alone.

    Args:
        batch: the records.
        unfinished: those that were settled and come back; it grows while this runs.
    """
    fifo = batch.invocation.platform.redelivers_only
    if not batch.restored and (not fifo or len(batch.messages) == 1):
        return ((batch.messages, True),)
    return fifo_batch(batch, unfinished) if fifo else standard_batch(batch)


def deletes_here(group: list[Message], batch: Batch) -> bool:
    """Tell extensions which messages are to be completed; True if one of a group must be deleted here, because of what comes before or after that."""
    invocation, record = batch.invocation, batch.invocation.record
    # of one whose next delivery without an outcome would be its failure it must be known whether SQS deletes it
    here = any(delivery.carried.servicecontrol_retry or delivery.at_limit for delivery in batch.restored)
    here = here or is_denied(batch)
    if record is None:
        return here
    completed = [each for each in group if invocation.settlement_of(delivery_of(each)) is COMPLETE]
    if completed:
        record.parts.completing(completed)
    asked = [record.parts.deletes(message) for message in completed]
    return here or any(asked)


def interruption_of(invocation: Invocation) -> BaseException:
    """Return what is raised again once all is settled, as the host may see it."""
    assert invocation.interruption is not None
    return failure_for_host(invocation.interruption, invocation.redact)
