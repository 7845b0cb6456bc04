"""Rules on a Lambda function and on the event source mapping that reads its queue."""

from __future__ import annotations

from collections.abc import Iterator

from recoverable_operate.check.known import known
from recoverable_operate.check.rule import Problem, rule
from recoverable_operate.check.rules.variable_problems import variable_problems
from recoverable_operate.check.sqs import OnSqs

LEAST_CONCURRENCY = 2
"""The least `MaximumConcurrency` that Lambda takes ("Configuring scaling behavior for SQS event source mappings", Lambda)."""


@rule("The event source mapping has `FunctionResponseTypes: [ReportBatchItemFailures]`.")
def partial_responses(deployed: OnSqs) -> Iterator[Problem]:
    """Find a mapping for which Lambda deletes the whole batch ("Handling errors for an SQS event source", Lambda)."""
    source = known(deployed.source)
    if not known(source.partial_responses):
        yield Problem(
            source.name,
            f"{source.name} has no FunctionResponseTypes: [ReportBatchItemFailures]",
            "AWS deletes the messages that are reported as failed",
            "write it, or SqsEndpoint(..., partial_responses=False)",
        )


@rule("The function has `RecursiveLoop: Allow`, unless its queue is a FIFO queue.")
def recursive_loop(deployed: OnSqs) -> Iterator[Problem]:
    """Find a function whose retries Lambda takes for a loop: each is a message to its own queue."""
    function, queue = known(deployed.function), known(deployed.queue)
    if not known(queue.fifo) and not known(function.recursive_loop):  # a FIFO queue gets no copies of its own messages
        yield Problem(
            function.name,
            f"{function.name} has no RecursiveLoop: Allow",
            "AWS stops a message's retries after about 16 of them",
            "write RecursiveLoop: Allow on the function",
        )


@rule("The mapping of a FIFO queue has `BatchSize: 1`.")
def fifo_batch_size(deployed: OnSqs) -> Iterator[Problem]:
    """Find batches of a FIFO queue: each delivery counts for all of their messages, also for those that did not run."""
    source, queue = known(deployed.source), known(deployed.queue)
    if known(queue.fifo) and (size := known(source.batch_size)) > 1:
        yield Problem(
            source.name,
            f"{source.name} has a BatchSize of {size}",
            "what is held back in a batch of a FIFO queue uses up deliveries",
            "write BatchSize: 1",
        )


@rule("The function's reserved concurrency is at least the mapping's `MaximumConcurrency`.")
def reserved_concurrency(deployed: OnSqs) -> Iterator[Problem]:
    """Find invocations that Lambda will throttle: a throttled batch has been received, which counts."""
    function, source = known(deployed.function), known(deployed.source)
    reserved, most = known(function.reserved_concurrency), known(source.max_concurrency)
    if reserved is None or (most is not None and most <= reserved):
        return
    least = max(reserved, LEAST_CONCURRENCY)
    scaling = f"write ScalingConfig: {{MaximumConcurrency: {least}}} on the mapping"
    more = f" and ReservedConcurrentExecutions: {least} on the function" if reserved < least else ""
    yield Problem(
        function.name,
        f"{function.name} reserves a concurrency of {reserved}, and {source.name} invokes it up to {most or 'any number of'} times at once",
        "Lambda throttles batches, each of which costs its messages a delivery without an attempt",
        scaling + more,
    )


@rule("Variables that begin with `RECOVERABLE_` have values that `Recoverability.from_environment` can read.")
def variables(deployed: OnSqs) -> Iterator[Problem]:
    """Find variables that cannot be read: a function that reads them raises an error when it is loaded."""
    function = known(deployed.function)
    yield from variable_problems(function.name, known(function.variables))
