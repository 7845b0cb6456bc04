"""Rules on a function that reads an SQS queue and on its mapping, and the list of all rules on SQS."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recoverable_operate.rules._endpoint import DEFAULT_ERROR_QUEUE, handler_times
from recoverable_operate.rules._ladder import variable_problems
from recoverable_operate.rules._names import dangling_problems, misspelt
from recoverable_operate.rules._on_sqs import OnSqs
from recoverable_operate.rules._rule import NotUnderstood, Problem, Rule, Unknown, all_of, known, refused_values, rule
from recoverable_operate.rules._sqs_queue_rules import (
    error_queue_alarm,
    error_queue_is_another,
    error_queue_redrives,
    error_queue_retention,
    ladder_retention,
    max_receive_count,
    message_size,
    one_error_queue,
    queue_retention,
    redrive_allowed,
    redrive_policy,
    same_kind,
    visibility_timeout,
)
from recoverable_operate.rules._sqs_rights import key_access, rights

LEAST_CONCURRENCY = 2
"""The least `MaximumConcurrency` that Lambda takes ("Configuring scaling behavior for SQS event source mappings", Lambda)."""


@rule("The event source mapping has `FunctionResponseTypes: [ReportBatchItemFailures]`.")
def partial_responses(deployed: OnSqs) -> Iterator[Problem]:
    """Find a mapping for which Lambda deletes the whole batch ("Handling errors for an SQS event source", Lambda)."""
    source, code = known(deployed.source), deployed.code
    deletes_itself = not isinstance(code, Unknown) and code.partial_responses is False
    if not deletes_itself and not known(source.partial_responses):
        yield Problem(
            source.name,
            f"{source.name} has no FunctionResponseTypes: [ReportBatchItemFailures]",
            "AWS deletes the messages that are reported as failed",
            "subscribe a queue of your own to the topic, and read it by an event of type SQS that has it"
            if source.is_subscription
            else "write it, or SqsEndpoint(..., partial_responses=False)",
        )


@rule("The endpoint is invoked by an SQS queue.")
def invoked_by_queue(deployed: OnSqs) -> Iterator[Problem]:
    """Find an endpoint that something else invokes: it refuses what is no batch of SQS."""
    if deployed.others is None:
        return
    function, others = known(deployed.function), known(deployed.others)
    if not others:
        raise NotUnderstood(f"nothing in the template invokes {function.name}; a mapping of another stack may")
    yield Problem(
        function.name,
        f"{function.name} is an endpoint for SQS and is invoked by {', '.join(others)}",
        "the endpoint refuses each event, and no message of it is retried or moved to an error queue",
        "let a queue take the events, and read it by an event of type SQS",
    )


@rule("The event source mapping is switched on.")
def enabled(deployed: OnSqs) -> Iterator[Problem]:
    """Find a mapping that is switched off: nobody reads the queue, and it deletes what is older than its retention."""
    source = known(deployed.source)
    if not known(source.enabled):
        yield Problem(
            source.name,
            f"{source.name} is switched off",
            "nothing reads the queue, and messages are deleted when its retention ends",
            "leave Enabled out, or write Enabled: true",
        )


@rule("Each SQS queue is read by one function.")
def only_reader(deployed: OnSqs) -> Iterator[Problem]:
    """Find functions that share a queue: it gives each message to one of them."""
    if not deployed.readers:
        return
    function, source = known(deployed.function), deployed.source
    filtered = not isinstance(source, Unknown) and source.filters is True
    yield Problem(
        function.name,
        f"{function.name} reads the same queue as {', '.join(deployed.readers)}",
        "a message that passes no filter of the function that receives it is deleted"
        if filtered
        else "each message runs in one of them only, whichever receives it first",
        "write a queue for each, with a subscription of its own to a topic",
    )


OLDEST_RUNTIME = (3, 11)


@rule("The function's runtime is python3.11 or newer.")
def runtime(deployed: OnSqs) -> Iterator[Problem]:
    """Find a runtime that is older than this package takes."""
    function = known(deployed.function)
    found = re.fullmatch(r"python(\d+)\.(\d+)", known(function.runtime) or "")
    if found and (int(found[1]), int(found[2])) < OLDEST_RUNTIME:
        yield Problem(
            function.name,
            f"{function.name} has the runtime {function.runtime}",
            "Lambda cannot start it: this package needs Python 3.11",
            "write python3.13, or another from python3.11 on",
        )


@rule("Values are such as AWS takes.")
def values(deployed: OnSqs) -> Iterator[Problem]:
    """Find values that AWS refuses."""
    yield from refused_values(deployed.source, deployed.function, deployed.queue, deployed.error_queue)


@rule("The function has `RecursiveLoop: Allow`, unless its queue is a FIFO queue, or it stamps dead letters.")
def recursive_loop(deployed: OnSqs) -> Iterator[Problem]:
    """Find a function whose retries Lambda takes for a loop: each is a message to its own queue."""
    if known(deployed.stamps):
        return
    function, queue = known(deployed.function), known(deployed.queue)
    if not known(queue.fifo) and not known(function.recursive_loop):  # a FIFO queue gets no copies of its own messages
        yield Problem(
            function.name,
            f"{function.name} has no RecursiveLoop: Allow",
            "AWS stops a message's retries after about 16 of them",
            "write RecursiveLoop: Allow on the function",
        )


@rule("The mapping of a FIFO queue has `BatchSize: 1`, unless the function stamps dead letters.")
def fifo_batch_size(deployed: OnSqs) -> Iterator[Problem]:
    """Find batches of a FIFO queue: each delivery counts for all of their messages, also for those that did not run."""
    if known(deployed.stamps):
        return
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


UNWINDOWED_BATCH = 10
"""The largest batch without a batch window ("Creating and configuring an Amazon SQS event source mapping", Lambda)."""


@rule("A mapping with a `BatchSize` above 10 has a batch window.")
def batch_window(deployed: OnSqs) -> Iterator[Problem]:
    """Find a mapping that Lambda refuses."""
    source = known(deployed.source)
    if (size := known(source.batch_size)) > UNWINDOWED_BATCH and not known(source.window):
        yield Problem(
            source.name,
            f"{source.name} has a BatchSize of {size} and no MaximumBatchingWindowInSeconds",
            "Lambda refuses the mapping",
            f"write MaximumBatchingWindowInSeconds: 1 or more, or a BatchSize of up to {UNWINDOWED_BATCH}",
        )


@rule("The event source mapping has no `FilterCriteria`.")
def filter_criteria(deployed: OnSqs) -> Iterator[Problem]:
    """Find a mapping that filters by the body: what comes back in NServiceBus's wrapper has another one ("Using event filtering with SQS", Lambda)."""
    source = known(deployed.source)
    if known(source.filters):
        yield Problem(
            source.name,
            f"{source.name} has FilterCriteria",
            "Lambda deletes messages that pass no filter: they are neither processed nor moved to an error queue, also where one is sent back in another form",
            "leave it out, and let the handler return for messages that it has nothing to do with",
        )


@rule("A function in a VPC has a way to SQS.")
def network(deployed: OnSqs) -> Iterator[Problem]:
    """Find nothing, and say of a VPC without an endpoint for SQS that routes are not known here."""
    function = known(deployed.function)
    if known(function.in_vpc) and not deployed.endpoints:
        known(
            Unknown(
                f"{function.name} runs in a VPC, and no endpoint for SQS is in sight; without one, or a way to the internet, no copy can be sent"
            )
        )
    yield from ()


@rule("The file of the function's handler is in its folder, and defines it.")
def handler(deployed: OnSqs) -> Iterator[Problem]:
    """Find a handler that Lambda cannot import."""
    function = known(deployed.function)
    if (file := known(function.missing_handler)) is not None:
        yield Problem(
            function.name,
            f"the handler of {function.name} is to be in {file}, and there is no such file",
            "Lambda cannot start it",
            "write the file's name into Handler, or its folder into CodeUri",
        )
    if function.undefined_handler is not None:
        file, name = function.undefined_handler
        yield Problem(
            function.name,
            f"the handler of {function.name} is {name} in {file}, which defines no such name",
            "Lambda cannot start it",
            "write the name of the endpoint or the function there",
        )


@rule("`handler_timeout` in the code is shorter than the function's `Timeout`.")
def handler_timeout(deployed: OnSqs) -> Iterator[Problem]:
    """Find a limit that is never reached: the invocation ends first."""
    code = known(deployed.code)
    if code.handler_timeout is not None:
        function = known(deployed.function)
        yield from handler_times(code, known(function.timeout), f"the Timeout of {function.name}")


@rule("Queues are named as they are made.")
def queue_names(deployed: OnSqs) -> Iterator[Problem]:
    """Find names that no queue has: that of the queue, of its error queue, and of the target of its redrive policy."""
    if deployed.made is not None:
        yield from all_of(named(deployed, deployed.made))


def named(deployed: OnSqs, made: frozenset[str]) -> Iterator[Iterator[Problem]]:
    """Yield what is found of each name."""
    function, queue = known(deployed.function), deployed.queue
    yield misspelt_name(function.name, deployed.queue_name, made)
    if deployed.error_name != DEFAULT_ERROR_QUEUE:  # which nobody misspelt
        yield misspelt_name(function.name, deployed.error_name, made)
    if not isinstance(queue, Unknown) and queue.redrive is not None:
        redrive = queue.redrive
        yield misspelt_name(queue.name, redrive if isinstance(redrive, Unknown) else redrive.target_name, made)


def misspelt_name(where: str, name: str | Unknown, made: frozenset[str]) -> Iterator[Problem]:
    """Find a name that is misspelt."""
    yield from misspelt(where, known(name), made)


@rule("Everything that the template refers to is in it.")
def references(deployed: OnSqs) -> Iterator[Problem]:
    """Find references to what is not in the template."""
    yield from dangling_problems(known(deployed.dangling))


SQS_RULES: tuple[Rule[OnSqs], ...] = (
    partial_responses, invoked_by_queue, enabled, only_reader, runtime, values, recursive_loop, visibility_timeout, redrive_policy, max_receive_count, fifo_batch_size, batch_window, filter_criteria,
    same_kind, queue_retention, ladder_retention, error_queue_retention, error_queue_redrives, error_queue_is_another,
    one_error_queue, redrive_allowed, message_size, rights, key_access, reserved_concurrency, network, handler,
    handler_timeout, variables, queue_names, references, error_queue_alarm,
)  # fmt: skip
"""The rules where Lambda reads an SQS queue, in the order of findings."""
