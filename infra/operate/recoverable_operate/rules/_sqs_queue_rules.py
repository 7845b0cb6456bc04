"""Rules on the queue that a function reads, and on its error queue: times, redrive, kinds, sizes, alarms."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from recoverable._sqs.queues import LONGEST_DELAY
from recoverable_operate.rules._endpoint import DEFAULT_ERROR_QUEUE, not_set
from recoverable_operate.rules._names import near, same
from recoverable_operate.rules._on_sqs import OnSqs, Queue
from recoverable_operate.rules._rule import Problem, known, rule

VISIBILITY_FACTOR = 6
"""The visibility timeout is this many function time-outs ("Creating and configuring an Amazon SQS event source mapping", Lambda)."""

SPARE_RECEIVES = 6
"""`maxReceiveCount` of a standard queue is at least the immediate retries plus this number (docs/use/retries.md, unreported deliveries)."""

FIFO_SPARE_RECEIVES = 10
"""`maxReceiveCount` of a FIFO queue is at least all attempts plus this number (docs/use/order.md)."""

LONGEST_RETENTION = timedelta(days=14)
"""The longest `MessageRetentionPeriod` (SQS API reference, SetQueueAttributes)."""

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
    least = ladder.attempts + FIFO_SPARE_RECEIVES if fifo else ladder.immediate.max_retries + SPARE_RECEIVES
    formula = f"all attempts + {FIFO_SPARE_RECEIVES}" if fifo else f"immediate retries + {SPARE_RECEIVES}"
    if redrive.max_receive_count >= least:
        ladder.be_sure()
        return
    wrong = f"{queue.name} has a maxReceiveCount of {redrive.max_receive_count}, too few for {ladder}"
    write = f"write {formula}, which is {least}, or more"
    if least > MOST_RECEIVES:  # of a FIFO queue: a ladder has 994 immediate retries at most
        wrong = f"{queue.name} needs a maxReceiveCount of {formula}, which is {least}, for {ladder}, and SQS takes {MOST_RECEIVES} at most"
        write = f"write fewer retries: all attempts, which are (immediate retries + 1) × (delayed retries + 1), may be {MOST_RECEIVES - FIFO_SPARE_RECEIVES}"
    causes = "SQS dead-letters messages before their retries are used up, and without a reason"
    yield Problem(ladder.where or queue.name, wrong, causes, write)


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
            longer_than(kept, "a smaller maxReceiveCount"),
        )


@rule("The error queue keeps messages for longer than its source, unless they are FIFO queues.")
def error_queue_retention(deployed: OnSqs) -> Iterator[Problem]:
    """Find an error queue that deletes messages too early: what SQS moves keeps its first enqueue time.

    Not so between FIFO queues ("Using dead-letter queues in Amazon SQS").
    """
    queue, errors = known(deployed.queue), other_queue(deployed)
    if errors is None or known(queue.fifo) or (kept := known(errors.retention)) > known(queue.retention):
        return
    yield Problem(
        errors.name,
        f"{errors.name} keeps messages no longer than {queue.name}, and for dead-lettered messages the time counts from the first send",
        "SQS deletes them before anybody has looked",
        longer_than(kept, f"a shorter MessageRetentionPeriod on {queue.name}"),
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


@rule(
    "The target of the queue's redrive policy is the error queue that the code or `RECOVERABLE_ERROR_QUEUE` names, or a queue from which `stamp` sends there."
)
def one_error_queue(deployed: OnSqs) -> Iterator[Problem]:
    """Find two error queues: who looks at one of them misses what is in the other."""
    queue, named = known(deployed.queue), known(deployed.error_name)
    if (redrive := known(queue.redrive)) is None or named == queue.name or same(redrive.target_name, named):
        return  # where it names the queue itself, another rule says it
    sent_on_to = known(deployed.stamped.get(redrive.target_name))
    if sent_on_to is not None and same(sent_on_to, named):
        return
    if deployed.made is not None and named not in deployed.made:
        if named == DEFAULT_ERROR_QUEUE:
            yield not_set(queue.name, redrive.target_name)
            return
        if near(named, deployed.made) == redrive.target_name:
            return  # a slip of the pen, which another rule says
    yield Problem(
        queue.name,
        f"{queue.name} has its dead letters moved to {redrive.target_name}, and its messages that are given up go to {named}",
        "who looks at one of the two misses what is in the other",
        f"write {named} as the target of the RedrivePolicy, or {redrive.target_name} as the error queue",
    )


@rule("The error queue's `RedriveAllowPolicy` allows the queue.")
def redrive_allowed(deployed: OnSqs) -> Iterator[Problem]:
    """Find an error queue that takes no dead letters of this queue ("Using dead-letter queues in Amazon SQS")."""
    queue, errors = known(deployed.queue), other_queue(deployed)
    if errors is None or (redrive := known(queue.redrive)) is None or not same(redrive.target_name, errors.name):
        return
    if (sources := known(errors.sources)) is not None and not any(
        same(queue.name, each.rpartition(":")[2]) for each in sources
    ):
        yield Problem(
            errors.name,
            f"the RedriveAllowPolicy of {errors.name} does not list {queue.name}",
            "SQS refuses the redrive policy",
            f"write the ARN of {queue.name} into sourceQueueArns",
        )


@rule("The error queue takes messages as large as the queue does.")
def message_size(deployed: OnSqs) -> Iterator[Problem]:
    """Find an error queue that refuses large messages."""
    queue, errors = known(deployed.queue), other_queue(deployed)
    if errors is not None and (theirs := known(errors.largest)) < (ours := known(queue.largest)):
        yield Problem(
            errors.name,
            f"{errors.name} takes messages of up to {theirs} bytes, and {queue.name} of up to {ours}",
            "a larger message that is given up stays on the queue until it expires or SQS dead-letters it without a reason",
            f"write a MaximumMessageSize of {ours} or more, or leave it out",
        )


LADDER_PART = 4
"""Where the order is kept, what waits behind a message ages unseen: the ladder takes up to this part of the retention (docs/use/order.md)."""


@rule("Messages live longer than the ladder takes: the longest delay; on a FIFO queue four times all delays.")
def ladder_retention(deployed: OnSqs) -> Iterator[Problem]:
    """Find a queue that deletes messages while they wait for a retry."""
    queue, ladder = known(deployed.queue), known(deployed.ladder)
    if known(queue.fifo):
        least, formula = LADDER_PART * sum(ladder.delays, timedelta(0)), f"{LADDER_PART} times all delays"
    else:
        least, formula = min(max(ladder.delays, default=timedelta(0)), LONGEST_DELAY), "the longest delay"
    if (kept := known(queue.retention)) > least:
        ladder.be_sure()
        return
    yield Problem(
        queue.name,
        f"{queue.name} keeps messages for {seconds(kept)} s, and {formula} of the ladder take {seconds(least)} s",
        "SQS deletes messages that wait for a retry",
        longer_than(kept, "shorter delays"),
    )


def longer_than(kept: timedelta, other: str) -> str:
    """Return what to write where a queue keeps messages too short: a longer time, unless it is the longest already, or something else."""
    return (
        f"write {other}"
        if kept >= LONGEST_RETENTION
        else f"write a longer MessageRetentionPeriod, such as 1209600, or {other}"
    )


def other_queue(deployed: OnSqs) -> Queue | None:
    """Return the error queue; None where there is none, or where the queue is its own."""
    errors = known(deployed.error_queue)
    return errors if errors is None or errors.arn != known(deployed.queue).arn else None


def seconds(time: timedelta) -> str:
    """Return a time in seconds."""
    return f"{time.total_seconds():.0f}"


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
