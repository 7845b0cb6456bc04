"""What in a template would lose or delay messages in AWS although nothing refuses it, as notes for its reader. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Queue, Stack

_VISIBILITY = 6
"""The visibility timeout in function time-outs ("Creating and configuring an Amazon SQS event source mapping", Lambda)."""

_SPARE = 6
"""What `maxReceiveCount` must be above the immediate retries, of which a ladder has at least none."""

_FOUR_DAYS = 345_600
"""How long a queue keeps messages that does not say (SQS, CreateQueue)."""


def advice(stack: Stack) -> tuple[str, ...]:
    """What to mend before the template is deployed, one sentence each."""
    if not stack.mappings and not stack.schedules:
        return ("nothing here calls a function; give one an event of type SQS",)
    functions = {function.logical_id: function for function in stack.functions}
    queues = {queue.name: queue for queue in stack.queues}
    return tuple(note for mapping in stack.mappings for note in _notes(mapping, functions[mapping.function], queues))


def _notes(mapping: EventSourceMapping, function: Function, queues: Mapping[str, Queue]) -> Iterator[str]:
    queue = queues[mapping.queue]
    if not mapping.partial_responses:
        yield (
            f"{mapping.name} has no FunctionResponseTypes: [ReportBatchItemFailures], so AWS deletes what is reported as failed;"
            " write it, or SqsEndpoint(..., partial_responses=False)"
        )
    if function.recursive_loop != "Allow":
        yield (
            f"{function.logical_id} has no RecursiveLoop: Allow, so AWS stops a message's retries after about 16 of them; here they go on"
        )
    least = _VISIBILITY * function.timeout + mapping.window
    if queue.visibility_timeout < least:
        yield (
            f"{queue.name} hides messages for {queue.visibility_timeout.total_seconds():.0f} s; write a VisibilityTimeout of"
            f" {least.total_seconds():.0f} s or more, {_VISIBILITY} times the Timeout of {function.logical_id} and the batch window"
        )
    yield from _redrive_notes(queue, queues)


def _redrive_notes(queue: Queue, queues: Mapping[str, Queue]) -> Iterator[str]:
    if queue.redrive is None:
        yield (
            f"{queue.name} has no RedrivePolicy, so what dies before your code runs comes back until it expires;"
            " write one that leads to the error queue"
        )
        return
    if queue.redrive.max_receive_count < _SPARE:
        yield (
            f"{queue.name} has a maxReceiveCount of {queue.redrive.max_receive_count}, so AWS gives messages up before the ladder does;"
            f" write immediate retries + {_SPARE} or more"
        )
    target = queues.get(queue.redrive.target)
    if target is not None and _retention(target) <= _retention(queue):
        yield (
            f"{target.name} keeps messages no longer than {queue.name} does, and what SQS moves there counts from its first send;"
            " write a longer MessageRetentionPeriod, such as 1209600"
        )


def _retention(queue: Queue) -> int:
    """For how many seconds it keeps a message."""
    return int(queue.attributes.get("MessageRetentionPeriod", _FOUR_DAYS))
