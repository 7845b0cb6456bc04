"""List all rules."""

from __future__ import annotations

from recoverable_operate.check.rule import Rule
from recoverable_operate.check.rules.alarm_rules import error_queue_alarm
from recoverable_operate.check.rules.entity_rules import (
    batch_lock,
    dead_letters,
    error_queue_duplicates,
    error_queue_expiry,
    error_queue_forwards,
    expiry,
    max_delivery_count,
    roles,
    subscriptions,
    tier,
)
from recoverable_operate.check.rules.functions_rules import (
    binary_data,
    completion,
    lock_renewal,
    one_reader,
    prefetch,
    settings,
    threads,
)
from recoverable_operate.check.rules.lambda_rules import (
    fifo_batch_size,
    partial_responses,
    recursive_loop,
    reserved_concurrency,
    variables,
)
from recoverable_operate.check.rules.queue_rules import (
    error_queue_is_another,
    error_queue_redrives,
    error_queue_retention,
    max_receive_count,
    one_error_queue,
    queue_retention,
    redrive_policy,
    same_kind,
    visibility_timeout,
)
from recoverable_operate.check.rules.rights_rules import key_access, rights
from recoverable_operate.check.service_bus import OnServiceBus
from recoverable_operate.check.sqs import OnSqs

SQS_RULES: tuple[Rule[OnSqs], ...] = (
    partial_responses,
    recursive_loop,
    visibility_timeout,
    redrive_policy,
    max_receive_count,
    fifo_batch_size,
    same_kind,
    queue_retention,
    error_queue_retention,
    error_queue_redrives,
    error_queue_is_another,
    one_error_queue,
    rights,
    key_access,
    reserved_concurrency,
    variables,
    error_queue_alarm,
)
"""What must be right where Lambda reads an SQS queue."""

SERVICE_BUS_RULES: tuple[Rule[OnServiceBus], ...] = (
    lock_renewal,
    prefetch,
    threads,
    binary_data,
    completion,
    one_reader,
    max_delivery_count,
    dead_letters,
    expiry,
    batch_lock,
    subscriptions,
    tier,
    error_queue_duplicates,
    error_queue_expiry,
    error_queue_forwards,
    roles,
    settings,
)
"""What must be right where the Functions host reads a Service Bus queue."""
