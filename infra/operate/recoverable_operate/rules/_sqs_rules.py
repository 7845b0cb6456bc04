"""Rules on a function that reads an SQS queue: its mapping, the queue and its error queue, the rights of its role, the alarms."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from recoverable_operate.rules._ladder import variable_problems
from recoverable_operate.rules._on_sqs import OnSqs, Permissions, Queue
from recoverable_operate.rules._rule import Problem, Rule, Unknown, known, rule

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


VISIBILITY_FACTOR = 6
"""The visibility timeout is this many function time-outs ("Creating and configuring an Amazon SQS event source mapping", Lambda)."""

SPARE_RECEIVES = 6
"""`maxReceiveCount` of a standard queue is at least the immediate retries plus this number (docs/the-ladder.md, unreported deliveries)."""

FIFO_SPARE_RECEIVES = 10
"""`maxReceiveCount` of a FIFO queue is at least all attempts plus this number (docs/order.md)."""

MOST_RECEIVES = 1000
"""The largest `maxReceiveCount` ("Using dead-letter queues in Amazon SQS")."""


@rule("The queue's `VisibilityTimeout` is at least 6 × the function's `Timeout` + the batch window.")
def visibility_timeout(deployed: OnSqs) -> Iterator[Problem]:
    """Find a queue whose messages are visible again while Lambda still has them."""
    queue, function = known(deployed.queue), known(deployed.function)
    least = VISIBILITY_FACTOR * known(function.timeout) + known(known(deployed.source).window)
    if (now := known(queue.visibility_timeout)) < least:
        yield Problem(
            queue.name,
            f"{queue.name} hides messages for {seconds(now)} s, less than {VISIBILITY_FACTOR} times the Timeout of {function.name} and the batch window",
            "messages come back while Lambda still throttles or runs them, and each time costs a delivery",
            f"write a VisibilityTimeout of {seconds(least)} s or more",
        )


@rule("The queue has a redrive policy whose target is the error queue.")
def redrive_policy(deployed: OnSqs) -> Iterator[Problem]:
    """Find a queue without one: what never reaches the endpoint's code can be moved by SQS alone."""
    queue = known(deployed.queue)
    if known(queue.redrive) is None:
        yield Problem(
            queue.name,
            f"{queue.name} has no RedrivePolicy",
            "a message whose process ends before your code runs comes back until it expires",
            "write one whose target is the error queue",
        )


@rule("`maxReceiveCount` is at least the immediate retries + 6; for a FIFO queue all attempts + 10, so 990 at most.")
def max_receive_count(deployed: OnSqs) -> Iterator[Problem]:
    """Find a queue that gives up before the ladder: each attempt of a round is a receive, on a FIFO queue of all rounds."""
    queue, ladder = known(deployed.queue), known(deployed.ladder)
    if (redrive := known(queue.redrive)) is None:
        return
    fifo = known(queue.fifo)
    least = ladder.attempts + FIFO_SPARE_RECEIVES if fifo else ladder.immediate + SPARE_RECEIVES
    formula = f"all attempts + {FIFO_SPARE_RECEIVES}" if fifo else f"immediate retries + {SPARE_RECEIVES}"
    if redrive.max_receive_count >= least:
        return
    wrong = f"{queue.name} has a maxReceiveCount of {redrive.max_receive_count}, too few for {ladder}"
    write = f"write {formula}, which is {least}, or more"
    if least > MOST_RECEIVES:  # of a FIFO queue: a ladder has 994 immediate retries at most
        wrong = f"{queue.name} needs a maxReceiveCount of {formula}, which is {least}, for {ladder}, and SQS takes {MOST_RECEIVES} at most"
        write = f"write fewer retries: all attempts, which are (immediate retries + 1) × (delayed retries + 1), may be {MOST_RECEIVES - FIFO_SPARE_RECEIVES}"
    causes = "SQS dead-letters messages before their retries are used up, and without a reason"
    yield Problem(queue.name, wrong, causes, write)


@rule("The dead-letter queue of a FIFO queue is a FIFO queue, and that of a standard queue a standard one.")
def same_kind(deployed: OnSqs) -> Iterator[Problem]:
    """Find queues of two kinds: SQS refuses a redrive policy between them ("Using dead-letter queues in Amazon SQS")."""
    queue, errors = known(deployed.queue), known(deployed.error_queue)
    if errors is None or known(queue.fifo) == known(errors.fifo):
        return
    ours, theirs = ("FIFO", "standard") if queue.fifo else ("standard", "FIFO")
    yield Problem(
        errors.name,
        f"{errors.name} is a {theirs} queue, and {queue.name}, whose dead letters it is to get, a {ours} queue",
        "SQS refuses the redrive policy",
        f"write a {ours} queue as its target",
    )


@rule("The queue keeps messages for longer than `maxReceiveCount` × its visibility timeout.")
def queue_retention(deployed: OnSqs) -> Iterator[Problem]:
    """Find a queue that deletes messages too early: each receive hides one for long, where a function never starts."""
    queue = known(deployed.queue)
    if (redrive := known(queue.redrive)) is None:
        return
    longest = redrive.max_receive_count * known(queue.visibility_timeout)
    if (kept := known(queue.retention)) <= longest:
        yield Problem(
            queue.name,
            f"{queue.name} keeps messages for {seconds(kept)} s, and {redrive.max_receive_count} receives at its visibility timeout take {seconds(longest)} s",
            "SQS deletes messages of a function that does not start before it moves them to the error queue",
            "write a longer MessageRetentionPeriod, such as 1209600, or a smaller maxReceiveCount",
        )


@rule("The error queue keeps messages for longer than its source, unless they are FIFO queues.")
def error_queue_retention(deployed: OnSqs) -> Iterator[Problem]:
    """Find an error queue that deletes messages too early: what SQS moves keeps its first enqueue time.

    Not so between FIFO queues ("Using dead-letter queues in Amazon SQS").
    """
    queue, errors = known(deployed.queue), other_queue(deployed)
    if errors is None or known(queue.fifo) or known(errors.retention) > known(queue.retention):
        return
    yield Problem(
        errors.name,
        f"{errors.name} keeps messages no longer than {queue.name}, and for dead-lettered messages the time counts from the first send",
        "SQS deletes them before anybody has looked",
        "write a longer MessageRetentionPeriod, such as 1209600",
    )


@rule("The error queue has no redrive policy.")
def error_queue_redrives(deployed: OnSqs) -> Iterator[Problem]:
    """Find an error queue that messages leave by themselves: each look is a receive."""
    errors = other_queue(deployed)
    if errors is not None and (redrive := known(errors.redrive)) is not None:
        yield Problem(
            errors.name,
            f"{errors.name} is an error queue and has a RedrivePolicy",
            f"SQS moves what was looked at {redrive.max_receive_count} times to {redrive.target.rpartition(':')[2]}, where nobody looks",
            "leave the RedrivePolicy out",
        )


@rule("The error queue is another queue than the one that the function reads.")
def error_queue_is_another(deployed: OnSqs) -> Iterator[Problem]:
    """Find a queue that is its own error queue, which the endpoint refuses."""
    queue, errors = known(deployed.queue), known(deployed.error_queue)
    if errors is not None and errors.arn == queue.arn:
        yield Problem(
            queue.name,
            f"{queue.name} is its own error queue",
            "a message that is given up begins anew, for ever",
            "write the name of another queue",
        )


@rule("The target of the queue's redrive policy is the error queue of `RECOVERABLE_ERROR_QUEUE`.")
def one_error_queue(deployed: OnSqs) -> Iterator[Problem]:
    """Find two error queues: who looks at one of them misses what is in the other."""
    queue, errors = known(deployed.queue), other_queue(deployed)
    redrive = known(queue.redrive)
    if errors is None or redrive is None or (target := redrive.target.rpartition(":")[2]) == errors.name:
        return
    yield Problem(
        queue.name,
        f"{queue.name} has its dead letters moved to {target}, and its messages that are given up go to {errors.name}",
        "who looks at one of the two misses what is in the other",
        f"write {errors.name} as the target of the RedrivePolicy",
    )


def other_queue(deployed: OnSqs) -> Queue | None:
    """Return the error queue; None where there is none, or where the queue is its own."""
    errors = known(deployed.error_queue)
    return errors if errors is None or errors.arn != known(deployed.queue).arn else None


def seconds(time: timedelta) -> str:
    """Return a time in seconds."""
    return f"{time.total_seconds():.0f}"


ON_THE_QUEUE = {
    "sqs:ReceiveMessage": "Lambda cannot poll the queue",
    "sqs:GetQueueAttributes": "Lambda cannot poll the queue",
    "sqs:DeleteMessage": "messages that were moved or retried later stay, and run again",
    "sqs:ChangeMessageVisibility": "immediate retries wait for the whole visibility timeout",
}
"""What any queue takes ("AWSLambdaSQSQueueExecutionRole", and the calls of this package), and what its lack causes."""

COPIES = {"sqs:SendMessage": "delayed retries cannot be sent, so their messages stay and come back at once"}
"""What a standard queue takes besides."""

TO_THE_ERROR_QUEUE = {
    "sqs:SendMessage": "messages that are given up stay on the queue, until SQS moves them without a reason"
}

KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey")
"""What SQS does with the key on behalf of who calls ("Key management", Amazon SQS Developer Guide)."""


@rule("The function's role may receive, delete, hide and send on the queue, and send to the error queue.")
def rights(deployed: OnSqs) -> Iterator[Problem]:
    """Find rights that are missing; on a FIFO queue the role need not send, because its retries are no copies."""
    queue, may = known(deployed.queue), known(known(deployed.function).permissions)
    yield from missing(may, queue, ON_THE_QUEUE if known(queue.fifo) else ON_THE_QUEUE | COPIES)
    if (errors := known(deployed.error_queue)) is not None:
        yield from missing(may, errors, TO_THE_ERROR_QUEUE)


def missing(may: Permissions, queue: Queue, wanted: dict[str, str]) -> Iterator[Problem]:
    """Yield the rights that are not there; what cannot be said is left to the end, so that it hides no other."""
    answers = {action: may.allow(action, queue.arn) for action in wanted}
    for action, allowed in answers.items():
        if allowed is False:
            yield Problem(
                may.role,
                f"{may.role} may not {action} on {queue.name}",
                wanted[action],
                f"allow {action} on the ARN of {queue.name}",
            )
    for allowed in answers.values():
        if isinstance(allowed, Unknown):
            known(allowed)


@rule("The function's role may use the key of each queue that a customer's key encrypts.")
def key_access(deployed: OnSqs) -> Iterator[Problem]:
    """Find keys that the role may not use: SQS asks KMS in the name of who calls."""
    may = known(known(deployed.function).permissions)
    queues = [each for each in (known(deployed.error_queue), known(deployed.queue)) if each is not None]
    keys = {key: each.name for each in queues if (key := known(each.key)) is not None}
    for key, name in keys.items():
        for action in KEY_ACTIONS:
            if not known(may.allow(action, key_arn(key))):
                yield Problem(
                    may.role,
                    f"{may.role} may not {action} on the key of {name}",
                    "SQS answers KMS.AccessDenied: nothing is received, or no copy can be sent",
                    f"allow {action} on the ARN of the key, and let the key's own policy allow the account's roles",
                )


def key_arn(key: str) -> str:
    """Return the ARN of a key that is given by ARN or id."""
    return key if key.startswith("arn:") else f"arn:aws:kms:::key/{key}"


VISIBLE = "ApproximateNumberOfMessagesVisible"
AGE = "ApproximateAgeOfOldestMessage"
SENT = "NumberOfMessagesSent"


@rule(
    "An error queue that is watched is watched by `ApproximateNumberOfMessagesVisible`, not by its age or by what is sent alone."
)
def error_queue_alarm(deployed: OnSqs) -> Iterator[Problem]:
    """Find alarms that a look silences, or that what SQS moves does not set off ("Available CloudWatch metrics for Amazon SQS")."""
    errors, alarms = known(deployed.error_queue), known(deployed.alarms)
    if errors is None or VISIBLE in {each.metric for each in alarms}:
        return
    for alarm in alarms:
        if (causes := CAUSES.get(alarm.metric)) is not None:
            yield Problem(
                alarm.name,
                f"{alarm.name} watches {alarm.metric} of {errors.name}, and no alarm watches {VISIBLE}",
                causes,
                f"write an alarm on {VISIBLE} greater than 0",
            )


CAUSES = {
    AGE: "a look with `recoverable errors` silences it: a message that was received three times no longer counts for its age",
    SENT: "messages that SQS itself moves to the error queue set off nothing: they do not count as sent",
}


SQS_RULES: tuple[Rule[OnSqs], ...] = (
    partial_responses, recursive_loop, visibility_timeout, redrive_policy, max_receive_count, fifo_batch_size, same_kind,
    queue_retention, error_queue_retention, error_queue_redrives, error_queue_is_another, one_error_queue, rights,
    key_access, reserved_concurrency, variables, error_queue_alarm,
)  # fmt: skip
"""What must be right where Lambda reads an SQS queue, in the order of findings."""
