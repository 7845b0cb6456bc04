"""Find settings in a template that AWS accepts but that lose or delay messages. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recoverable_local.lambda_host.sam.fifo_advice import batch_notes, receive_notes
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Queue, Stack

_VISIBILITY_FACTOR = 6
"""The visibility timeout is this many function time-outs ("Creating and configuring an Amazon SQS event source mapping", Lambda)."""

_SPARE_RECEIVES = 6
"""`maxReceiveCount` of a standard queue must be at least the immediate retries plus this number."""

_DEFAULT_RETENTION = 345_600
"""Seconds that a queue keeps messages when it sets no `MessageRetentionPeriod` (SQS, CreateQueue)."""


def advice(stack: Stack) -> tuple[str, ...]:
    """Return what to change before the template is deployed, one sentence each."""
    if not stack.mappings and not stack.schedules:
        return ("no function of this template is invoked; give one an event of type SQS",)
    functions = {function.logical_id: function for function in stack.functions}
    queues = {queue.name: queue for queue in stack.queues}
    return tuple(note for mapping in stack.mappings for note in _notes(mapping, functions[mapping.function], queues))


def _notes(mapping: EventSourceMapping, function: Function, queues: Mapping[str, Queue]) -> Iterator[str]:
    queue = queues[mapping.queue]
    if not mapping.partial_responses:
        yield (
            f"{mapping.name} has no FunctionResponseTypes: [ReportBatchItemFailures], so AWS deletes the messages that are reported as failed;"
            " write it, or SqsEndpoint(..., partial_responses=False)"
        )
    if function.recursive_loop != "Allow" and not queue.fifo:  # a FIFO queue gets no copies of its own messages
        yield (
            f"{function.logical_id} has no RecursiveLoop: Allow, so AWS stops a message's retries after about 16 of them; here they continue"
        )
    minimum = _VISIBILITY_FACTOR * function.timeout + mapping.window
    if queue.visibility_timeout < minimum:
        yield (
            f"{queue.name} hides messages for {queue.visibility_timeout.total_seconds():.0f} s; write a VisibilityTimeout of"
            f" {minimum.total_seconds():.0f} s or more, {_VISIBILITY_FACTOR} times the Timeout of {function.logical_id} and the batch window"
        )
    if queue.fifo:
        yield from batch_notes(mapping)
    if not queue.outside:  # else nothing is known of its settings
        yield from _redrive_notes(queue, queues)


def _redrive_notes(queue: Queue, queues: Mapping[str, Queue]) -> Iterator[str]:
    if queue.redrive is None:
        yield (
            f"{queue.name} has no RedrivePolicy, so a message whose process ends before your code runs comes back until it expires;"
            " write one whose target is the error queue"
        )
        return
    if queue.fifo:
        yield from receive_notes(queue, queue.redrive)
        return  # what SQS moves between FIFO queues is kept from then on
    if queue.redrive.max_receive_count < _SPARE_RECEIVES:
        yield (
            f"{queue.name} has a maxReceiveCount of {queue.redrive.max_receive_count}, so SQS dead-letters messages before their retries are used up;"
            f" write immediate retries + {_SPARE_RECEIVES} or more"
        )
    target = queues.get(queue.redrive.target)
    if target is not None and not target.outside and _retention(target) <= _retention(queue):
        yield (
            f"{target.name} keeps messages no longer than {queue.name}, and for dead-lettered messages the time counts from the first send;"
            " write a longer MessageRetentionPeriod, such as 1209600"
        )


def _retention(queue: Queue) -> int:
    """Return how long a queue keeps a message, in seconds."""
    return int(queue.attributes.get("MessageRetentionPeriod", _DEFAULT_RETENTION))
