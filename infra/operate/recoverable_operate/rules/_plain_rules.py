"""The rules that hold for each function that reads a queue, with or without this package, in words for one without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from recoverable_operate.rules._on_service_bus import OnServiceBus
from recoverable_operate.rules._on_sqs import OnSqs
from recoverable_operate.rules._rule import Problem, Rule, known
from recoverable_operate.rules._service_bus_queue_rules import (
    accepted_values,
    dead_letters,
    error_queue_expiry,
    error_queue_forwards,
    expiry,
    queue_stays,
    subscriptions,
)
from recoverable_operate.rules._sqs_queue_rules import (
    error_queue_alarm,
    error_queue_redrives,
    error_queue_retention,
    queue_retention,
    redrive_allowed,
    redrive_policy,
    same_kind,
    visibility_timeout,
)
from recoverable_operate.rules._sqs_rules import batch_window, enabled, only_reader, partial_responses, values

LEAST_RECEIVES = 5
"""The least `maxReceiveCount` that AWS advises ("Creating and configuring an Amazon SQS event source mapping", Lambda)."""


def plain_partial_responses(deployed: OnSqs) -> Iterator[Problem]:
    """Find a mapping for which one message that fails makes its whole batch run again."""
    for each in partial_responses.problems(deployed):
        causes = "one message that fails makes its whole batch run again, those that are done too"
        yield replace(each, causes=causes, write="write it, and return the ids of the messages that failed")


def plain_receive_count(deployed: OnSqs) -> Iterator[Problem]:
    """Find a queue that dead-letters what was only throttled."""
    queue = known(deployed.queue)
    redrive = known(queue.redrive)
    if redrive is not None and redrive.max_receive_count < LEAST_RECEIVES:
        yield Problem(
            queue.name,
            f"{queue.name} has a maxReceiveCount of {redrive.max_receive_count}",
            "messages of batches that Lambda throttles are dead-lettered without having run",
            f"write {LEAST_RECEIVES} or more",
        )


PLAIN_SQS_RULES: tuple[Rule[OnSqs], ...] = (
    Rule(partial_responses.name, partial_responses.must, plain_partial_responses), visibility_timeout, redrive_policy,
    Rule("max-receive-count", f"`maxReceiveCount` is at least {LEAST_RECEIVES}.", plain_receive_count), enabled, only_reader, values,
    batch_window, same_kind, queue_retention, error_queue_retention, error_queue_redrives, redrive_allowed, error_queue_alarm,
)  # fmt: skip
"""Where Lambda reads an SQS queue, in the order of findings."""

PLAIN_SERVICE_BUS_RULES: tuple[Rule[OnServiceBus], ...] = (
    dead_letters, expiry, queue_stays, accepted_values, subscriptions, error_queue_expiry, error_queue_forwards,
)  # fmt: skip
"""On a Service Bus queue, in the order of findings."""
