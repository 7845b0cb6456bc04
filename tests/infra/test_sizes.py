"""The rules that tie the time-outs, retentions and limits of template.yaml together, over every parameter it allows."""

from __future__ import annotations

import pytest

from infra.sam_template import Parameters, corners, template, value

SAM = template()
DAY = 86_400


def number(parameters: Parameters, resource: str, *path: str) -> int:
    """Return a number of a resource, under these parameters."""
    return int(value(SAM, parameters, resource, *path))


def mapping(parameters: Parameters, name: str) -> int:
    """Return a number of the event source mapping, under these parameters."""
    return number(parameters, "OrdersFunction", "Events", "Orders", "Properties", name)


@pytest.mark.parametrize("parameters", corners(SAM, "FunctionTimeout", "BatchWindowSeconds"), ids=str)
def test_a_message_stays_invisible_for_six_time_outs_and_the_batch_window(parameters: Parameters) -> None:
    """Lambda Developer Guide, "Creating and configuring an Amazon SQS event source mapping"."""
    timeout = number(parameters, "OrdersFunction", "Timeout")
    window = mapping(parameters, "MaximumBatchingWindowInSeconds")

    assert number(parameters, "OrdersQueue", "VisibilityTimeout") >= 6 * timeout + window


@pytest.mark.parametrize("parameters", corners(SAM, "ImmediateRetries"), ids=str)
def test_the_broker_gives_up_later_than_the_ladder(parameters: Parameters) -> None:
    immediate = number(parameters, "OrdersFunction", "Environment", "Variables", "RECOVERABLE_IMMEDIATE_RETRIES")

    assert number(parameters, "OrdersQueue", "RedrivePolicy", "maxReceiveCount") >= immediate + 6


@pytest.mark.parametrize("parameters", corners(SAM, "FunctionTimeout"), ids=str)
def test_what_the_function_never_sees_reaches_the_error_queue_before_it_expires(parameters: Parameters) -> None:
    visibility = number(parameters, "OrdersQueue", "VisibilityTimeout")
    receives = number(parameters, "OrdersQueue", "RedrivePolicy", "maxReceiveCount")

    assert visibility * receives < number(parameters, "OrdersQueue", "MessageRetentionPeriod")


@pytest.mark.parametrize("parameters", corners(SAM, "FunctionTimeout"), ids=str)
def test_two_lost_deliveries_of_a_delayed_message_raise_no_alarm(parameters: Parameters) -> None:
    longest_delay = 900  # Amazon SQS Developer Guide, "Amazon SQS message timers"
    visibility = number(parameters, "OrdersQueue", "VisibilityTimeout")

    assert number(parameters, "OrdersQueueAgeAlarm", "Threshold") == longest_delay + 3 * visibility


def test_no_batch_is_so_large_that_lambda_demands_a_window() -> None:
    sizes = [mapping(parameters, "BatchSize") for parameters in corners(SAM, "BatchSize")]

    assert max(sizes) <= 10


def test_the_error_queue_keeps_a_message_longer_than_the_orders_queue_does() -> None:
    retention = "MessageRetentionPeriod"

    kept = (number({}, "OrdersQueue", retention), number({}, "ErrorQueue", retention))

    assert kept == (4 * DAY, 14 * DAY)


def test_the_age_alarm_leaves_three_days_to_act() -> None:
    alarm = number({}, "ErrorQueueAgeAlarm", "Threshold")
    spent_before = number({}, "OrdersQueue", "MessageRetentionPeriod")

    assert alarm + spent_before + 3 * DAY <= number({}, "ErrorQueue", "MessageRetentionPeriod")


def test_the_log_of_a_failure_outlives_its_message() -> None:
    days = number({}, "OrdersLog", "RetentionInDays")

    assert days * DAY > number({}, "ErrorQueue", "MessageRetentionPeriod")
