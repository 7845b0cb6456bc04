"""The default policy, rule by rule, and NServiceBus's own tests of it in our words.

NServiceBus.Core.Tests/Recoverability/DefaultRecoverabilityPolicyTests (11), upstream → here:

    When_failure_is_assignable_to_custom_exception_should_move_to_error     → PORTED, "a subclass of an unrecoverable type"
    When_max_immediate_retries_have_not_been_reached_should_return_immediate_retry → PORTED, "immediate retries are left"
    When_max_immediate_retries_exceeded_should_return_delayed_retry         → PORTED, "immediate retries are used up"
    ...exceeded_but_delayed_retry_disabled_return_move_to_error             → PORTED, "used up, and no delayed ones"
    ...turned_off_and_delayed_retry_policy_returns_delay...                 → PORTED, "no immediate retries"
    ...turned_off_and_delayed_retries_turned_off...                         → PORTED, "neither"
    ...turned_off_and_delayed_retry_policy_returns_no_delay...              → PORTED, "neither, and no time increase"
    ...turned_off_and_delayed_retry_not_available...                        → PORTED, "neither"; availability: test_platform_limits.py
    When_delayed_retry_counter_header_exists...should_use_it                → PORTED, "the only delayed retry was made"
    ShouldRetryTheSpecifiedTimesWithIncreasedDelay                          → test_delays_grow_and_end_in_the_error_queue
    ShouldCapTheRetryMaxTimeTo24Hours                                       → test_time_limits.py

Other upstream tests: capability adjustment in test_platform_limits.py, custom policies in test_custom_policy.py, headers of retries and errors in
test_settlements.py, fault metadata in test_faults.py, settings in test_config.py, dates in test_headers.py, the log in test_log.py.

Not applicable to a pure core, and why:

    ErrorContextTests (3), RecoverabilityExecutorTests (2)    context bags and receive properties: we have neither, `message.native` holds the record
    FaultMetadataExtractorTests.ShouldApplyCustomizations     there is no header customization
    DelayedDeliveryOptionExtensionsTests (6)                  options of sending; we only copy
    PopulateRecoverabilityTraceMetadataBehaviorTests (2)      there is no tracing yet
    RetryAcknowledgementBehaviorTests (4)                     the adapter's business, when it confirms retries to ServiceControl
    acceptance: notifications (3), metrics, diagnostics       a host's pipeline; ours are the log and its extras (test_log.py)
    acceptance: DTC, TransactionScope, atomic sends (6)       no broker transactions on either cloud
    acceptance: rate limiting (4)                             `rate_limit` is not written yet
    acceptance: mutators, header customization, satellites    we have no pipeline to mutate in
    acceptance: sagas, outbox, TimeToBeReceived               no such feature, or one of the Service Bus adapter
    transport tests (TT)                                      counting: test_counting.py; delivery itself: the adapters' tests
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders import ERROR_QUEUE, NOW, Boom, error_context, recoverability, seconds, written
from recoverable import (
    Action,
    DelayedRetry,
    ErrorContext,
    HandlerTimeout,
    ImmediateRetry,
    MessageDeserializationError,
    MoveToError,
    Recoverability,
    RetryAfter,
    UnreportedFailure,
    default_policy,
)
from recoverable.headers import DELAYED_RETRY_AT

ERROR = MoveToError(ERROR_QUEUE)


class Rejected(Exception):
    """A failure that retries do not heal."""


class RejectedByBank(Rejected):
    """A kind of it."""


def caused_by(cause: Exception) -> Exception:
    """Return a failure with this cause."""
    failure = Boom()
    failure.__cause__ = cause
    return failure


PORTED = {
    "a subclass of an unrecoverable type": (
        recoverability(3, 3, unrecoverable=(Rejected,)),
        error_context(RejectedByBank()),
        ERROR,
    ),
    "immediate retries are left": (recoverability(3), error_context(failures=2), ImmediateRetry()),
    "immediate retries are used up": (recoverability(2), error_context(failures=3), DelayedRetry(seconds(2))),
    "used up, and no delayed ones": (recoverability(1, 0), error_context(failures=3), ERROR),
    "no immediate retries": (recoverability(0, time_increase=seconds(10)), error_context(), DelayedRetry(seconds(10))),
    "neither": (recoverability(0, 0), error_context(), ERROR),
    "neither, and no time increase": (recoverability(0, 0, time_increase=seconds(0)), error_context(), ERROR),
    "the only delayed retry was made": (recoverability(0, 1), error_context(retries=1), ERROR),
}


@pytest.mark.parametrize(("settings", "context", "expected"), PORTED.values(), ids=PORTED)
def test_decides_as_nservicebus_does(settings: Recoverability, context: ErrorContext, expected: Action) -> None:
    assert default_policy(settings, context) == expected


def test_delays_grow_and_end_in_the_error_queue() -> None:
    settings = recoverability(0, 2, time_increase=seconds(10))

    actions = [default_policy(settings, error_context(retries=made)) for made in range(3)]

    assert actions == [DelayedRetry(seconds(10)), DelayedRetry(seconds(20)), ERROR]


ATTEMPTS = [
    (0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 4), (0, 1, 2), (1, 1, 4),
    (2, 1, 6), (3, 1, 8), (1, 2, 6), (2, 2, 9), (1, 3, 8), (5, 3, 24),
]  # fmt: skip
"""The table of NServiceBus, "Recoverability", "Total number of possible retries": immediate, delayed, attempts."""


@pytest.mark.parametrize(("immediate", "delayed", "attempts"), ATTEMPTS)
def test_the_number_of_attempts_is_that_of_the_table(immediate: int, delayed: int, attempts: int) -> None:
    assert attempts_made(recoverability(immediate, delayed)) == attempts


def test_the_defaults_make_24_attempts() -> None:
    assert attempts_made(Recoverability()) == 24


def attempts_made(settings: Recoverability) -> int:
    """Return how often a message that always fails is tried before it moves to the error queue."""
    attempts, failures, retries = 1, 1, 0
    while True:
        match default_policy(settings, error_context(failures=failures, retries=retries)):
            case ImmediateRetry():
                failures += 1
            case DelayedRetry():
                failures, retries = 1, retries + 1
            case action:
                assert isinstance(action, MoveToError)
                return attempts
        attempts += 1


ORDER_OF_RULES: dict[str, tuple[Recoverability, ErrorContext, Action]] = {
    "unrecoverable comes before immediate retries": (
        recoverability(5, 5, unrecoverable=(Boom,)),
        error_context(),
        ERROR,
    ),
    "immediate retries come before delayed ones": (recoverability(), error_context(retries=1), ImmediateRetry()),
    "what cannot be read is always unrecoverable": (
        recoverability(5, 5, unrecoverable=(Boom,)),
        error_context(MessageDeserializationError()),
        ERROR,
    ),
    "a predicate that says yes": (
        recoverability(unrecoverable=(lambda error: "it" in str(error),)),
        error_context(),
        ERROR,
    ),
    "a predicate that says no": (
        recoverability(unrecoverable=(lambda error: "that" in str(error),)),
        error_context(),
        ImmediateRetry(),
    ),
    "a cause does not count": (
        recoverability(unrecoverable=(Rejected,)),
        error_context(caused_by(Rejected())),
        ImmediateRetry(),
    ),
    "a BaseException can be unrecoverable": (
        recoverability(unrecoverable=(KeyboardInterrupt,)),
        error_context(KeyboardInterrupt()),
        ERROR,
    ),
    "a time-out is retried like any failure": (recoverability(), error_context(HandlerTimeout()), ImmediateRetry()),
    "deliveries without a recorded outcome are retried too": (
        recoverability(),
        error_context(UnreportedFailure(), failures=3),
        DelayedRetry(seconds(2)),
    ),
    "RetryAfter is one delayed retry at once": (
        recoverability(),
        error_context(RetryAfter(seconds(77))),
        DelayedRetry(seconds(77)),
    ),
    "RetryAfter uses up delayed retries": (
        recoverability(5, 2),
        error_context(RetryAfter(seconds(77)), retries=2),
        ERROR,
    ),
    "RetryAfter has none when there are none": (recoverability(5, 0), error_context(RetryAfter(seconds(77))), ERROR),
    "RetryAfter obeys the 24 hours": (
        recoverability(),
        error_context(RetryAfter(seconds(77)), headers={DELAYED_RETRY_AT: written(NOW - timedelta(days=2))}),
        ERROR,
    ),
    "unrecoverable wins over RetryAfter": (
        recoverability(unrecoverable=(RetryAfter,)),
        error_context(RetryAfter(seconds(77))),
        ERROR,
    ),
    "RetryAfter asks for no jitter and no backoff": (
        recoverability(jitter=1.0, backoff=lambda made: seconds(5)),
        error_context(RetryAfter(seconds(77))),
        DelayedRetry(seconds(77)),
    ),
}


@pytest.mark.parametrize(("settings", "context", "expected"), ORDER_OF_RULES.values(), ids=ORDER_OF_RULES)
def test_the_first_rule_that_applies_decides(settings: Recoverability, context: ErrorContext, expected: Action) -> None:
    assert default_policy(settings, context) == expected


def test_the_error_queue_is_left_to_the_adapter_when_none_is_given() -> None:
    assert default_policy(Recoverability(), error_context(MessageDeserializationError())) == MoveToError(None)


def test_the_same_failure_gets_the_same_answer() -> None:
    settings, context = recoverability(0, jitter=1.0), error_context(id="m-7")

    assert default_policy(settings, context) == default_policy(settings, context)
