"""Settings: a bad one is refused at once and says what to write instead; a good one is a value.

NServiceBus.Core.Tests/Recoverability/RecoverabilitySettingsExtensionsTests (3), upstream → here: add, add a second, add the same twice →
test_unrecoverable_types_add_to_what_cannot_be_read. Negative numbers and times, blank queues, "Exception type must be an exception" → REFUSED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from builders import Boom, seconds
from recoverable import (
    Delayed,
    DelayedRetry,
    Discard,
    Exponential,
    Failed,
    Immediate,
    MessageDeserializationError,
    MoveToError,
    Recoverability,
    RetryAfter,
)

HOW_MANY = "write a whole number from 0"
HOW_LONG = "write a timedelta, such as timedelta(seconds=10)"
RULES = "exception types, or functions from exception to bool"


async def asynchronous(*_: object) -> Any:
    """Do nothing, as a coroutine: no setting may be one."""


def generator(*_: object) -> Iterator[bool]:
    """Yield something: no setting may be a generator, either."""
    yield True


REFUSED: list[tuple[Callable[[Any], Any], Any, type[Exception], str]] = [
    (Immediate, -1, ValueError, f"Immediate(max_retries) is -1; {HOW_MANY} to 994"),
    (Immediate, 995, ValueError, f"Immediate(max_retries) is 995; {HOW_MANY} to 994"),
    (Immediate, 2.0, TypeError, f"Immediate(max_retries) is 2.0; {HOW_MANY} to 994"),
    (Immediate, True, TypeError, f"Immediate(max_retries) is True; {HOW_MANY} to 994"),
    (lambda value: Immediate(in_process=value), 1, TypeError, "Immediate(in_process) is 1; write True or False"),
    (Immediate, "5", TypeError, f"Immediate(max_retries) is '5'; {HOW_MANY} to 994"),
    (Immediate, None, TypeError, f"Immediate(max_retries) is None; {HOW_MANY} to 994"),
    (Delayed, -1, ValueError, f"Delayed(max_retries) is -1; {HOW_MANY} to 1,000"),
    (Delayed, 1_001, ValueError, f"Delayed(max_retries) is 1,001; {HOW_MANY} to 1,000"),
    (lambda value: Delayed(3, value), 10, TypeError, f"Delayed(time_increase) is 10; {HOW_LONG}"),
    (
        lambda value: Delayed(3, value),
        seconds(-1),
        ValueError,
        "Delayed(time_increase) is -0:00:01; write a timedelta from 0 to 121 days, 16:00:00",
    ),
    (
        lambda value: Delayed(0, value),
        timedelta(days=366),
        ValueError,
        "Delayed(time_increase) is 366 days, 0:00:00; write a timedelta from 0 to 365 days, 0:00:00",
    ),
    (
        lambda value: Delayed(backoff=value),
        seconds(1),
        TypeError,
        "Delayed(backoff) is datetime.timedelta(seconds=1); write a function from retries made to a timedelta",
    ),
    (
        lambda value: Delayed(backoff=value),
        Exponential,
        TypeError,
        "Delayed(backoff) is Exponential; write a function from retries made to a timedelta",
    ),
    (
        lambda value: Delayed(backoff=value),
        asynchronous,
        TypeError,
        "Delayed(backoff) is asynchronous, an async def or generator; write a function from retries made to a timedelta, by a plain def",
    ),
    (lambda value: Delayed(jitter=value), 1.1, ValueError, "Delayed(jitter) is 1.1; write a number from 0.0 to 1.0"),
    (lambda value: Delayed(jitter=value), -0.1, ValueError, "Delayed(jitter) is -0.1; write a number from 0.0 to 1.0"),
    (
        lambda value: Delayed(jitter=value),
        float("nan"),
        ValueError,
        "Delayed(jitter) is nan; write a number from 0.0 to 1.0",
    ),
    (
        lambda value: Delayed(jitter=value),
        "half",
        TypeError,
        "Delayed(jitter) is 'half'; write a number from 0.0 to 1.0",
    ),
    (lambda value: Delayed(jitter=value), True, TypeError, "Delayed(jitter) is True; write a number from 0.0 to 1.0"),
    (lambda value: Delayed(max_total_time=value), 3600, TypeError, f"Delayed(max_total_time) is 3600; {HOW_LONG}"),
    (
        lambda value: Delayed(max_total_time=value),
        seconds(-1),
        ValueError,
        "Delayed(max_total_time) is -0:00:01; write a timedelta from 0 to 365 days, 0:00:00",
    ),
    (Exponential, 1, TypeError, f"Exponential(initial) is 1; {HOW_LONG}"),
    (lambda value: Exponential(seconds(1), maximum=value), 9, TypeError, f"Exponential(maximum) is 9; {HOW_LONG}"),
    (
        lambda value: Exponential(seconds(1), value),
        0.5,
        ValueError,
        "Exponential(factor) is 0.5; write a number from 1 to 1000.0",
    ),
    (
        lambda value: Exponential(seconds(1), value),
        float("inf"),
        ValueError,
        "Exponential(factor) is inf; write a number from 1 to 1000.0",
    ),
    (
        lambda value: Exponential(seconds(1), value),
        "2",
        TypeError,
        "Exponential(factor) is '2'; write a number from 1 to 1000.0",
    ),
    (Failed, "", ValueError, "Failed(error_queue) is blank; write the name of a queue"),
    (Failed, " \t", ValueError, "Failed(error_queue) is blank; write the name of a queue"),
    (Failed, 5, TypeError, "Failed(error_queue) is 5; write the name of a queue"),
    (
        lambda value: Failed(unrecoverable=value),
        ValueError,
        TypeError,
        f"Failed(unrecoverable) is ValueError; write a tuple of {RULES}",
    ),
    (lambda value: Failed(unrecoverable=value), 5, TypeError, f"Failed(unrecoverable) is 5; write a tuple of {RULES}"),
    (
        lambda value: Failed(unrecoverable=value),
        None,
        TypeError,
        f"Failed(unrecoverable) is None; write a tuple of {RULES}",
    ),
    (
        lambda value: Failed(unrecoverable=(value,)),
        int,
        TypeError,
        f"A rule of Failed(unrecoverable) is int; write {RULES}",
    ),
    (
        lambda value: Failed(unrecoverable=(value,)),
        "ValueError",
        TypeError,
        f"A rule of Failed(unrecoverable) is 'ValueError'; write {RULES}",
    ),
    (
        lambda value: Failed(unrecoverable=(value,)),
        ValueError("no"),
        TypeError,
        f"A rule of Failed(unrecoverable) is ValueError('no'); write {RULES}",
    ),
    (
        lambda value: Failed(unrecoverable=(value,)),
        generator,
        TypeError,
        f"A rule of Failed(unrecoverable) is generator, an async def or generator; write {RULES}, by a plain def",
    ),
    (Recoverability, 5, TypeError, "Recoverability(immediate) is 5; write immediate=Immediate(...)"),
    (
        Recoverability,
        Immediate,
        TypeError,
        f"Recoverability(immediate) is {Immediate!r}; write immediate=Immediate(...)",
    ),
    (
        lambda value: Recoverability(delayed=value),
        Immediate(1),
        TypeError,
        "Recoverability(delayed) is Immediate(max_retries=1, in_process=False); write delayed=Delayed(...)",
    ),
    (
        lambda value: Recoverability(failed=value),
        "error",
        TypeError,
        "Recoverability(failed) is 'error'; write failed=Failed(...)",
    ),
    (
        lambda value: Recoverability(policy=value),
        "default",
        TypeError,
        "Recoverability(policy) is 'default'; write a function (recoverability, error_context) -> action",
    ),
    (
        lambda value: Recoverability(policy=value),
        asynchronous,
        TypeError,
        "Recoverability(policy) is asynchronous, an async def or generator; write a function (recoverability, error_context) -> action, by a plain def",
    ),
    (
        DelayedRetry,
        seconds(-1),
        ValueError,
        "DelayedRetry(delay) is -0:00:01; write a timedelta from 0 to 365 days, 0:00:00",
    ),
    (DelayedRetry, 10, TypeError, f"DelayedRetry(delay) is 10; {HOW_LONG}"),
    (MoveToError, " ", ValueError, "MoveToError(error_queue) is blank; write the name of a queue"),
    (MoveToError, 5, TypeError, "MoveToError(error_queue) is 5; write the name of a queue"),
    (Discard, " ", ValueError, "Discard(reason) is ' '; write why the message may go"),
    (Discard, None, ValueError, "Discard(reason) is None; write why the message may go"),
    (RetryAfter, 30, TypeError, f"RetryAfter(delay) is 30; {HOW_LONG}"),
    (
        RetryAfter,
        timedelta(days=366),
        ValueError,
        "RetryAfter(delay) is 366 days, 0:00:00; write a timedelta from 0 to 365 days, 0:00:00",
    ),
]


@pytest.mark.parametrize(("make", "value", "error", "text"), REFUSED, ids=[row[3][:60] for row in REFUSED])
def test_a_bad_setting_is_refused_at_once_and_says_what_to_write(
    make: Callable[[Any], Any], value: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as refused:
        make(value)

    assert (type(refused.value), str(refused.value)) == (error, text)


LIMITS: list[Callable[[], Any]] = [
    lambda: Immediate(0),
    lambda: Immediate(994),
    lambda: Delayed(0, seconds(0)),
    lambda: Delayed(1_000, timedelta(days=365) / 1_000, jitter=1, max_total_time=seconds(0)),
    lambda: Exponential(seconds(0), 1, timedelta(days=365)),
    lambda: DelayedRetry(seconds(0)),
    lambda: DelayedRetry(timedelta(days=365)),
]


@pytest.mark.parametrize("make", LIMITS)
def test_the_limits_themselves_are_allowed(make: Callable[[], Any]) -> None:
    assert make() == make()


def test_unrecoverable_types_add_to_what_cannot_be_read() -> None:
    assert Failed().unrecoverable == (MessageDeserializationError,)
    assert Failed(unrecoverable=[Boom]).unrecoverable == (MessageDeserializationError, Boom)
    assert Failed(unrecoverable=(Boom, KeyError)).unrecoverable == (MessageDeserializationError, Boom, KeyError)


def test_an_unrecoverable_type_that_is_given_twice_counts_once() -> None:
    given_twice = Failed(unrecoverable=(Boom, MessageDeserializationError, Boom))

    assert given_twice == Failed(unrecoverable=(Boom,))


def test_a_predicate_need_not_be_hashable() -> None:
    class Codes(list[int]):
        def __call__(self, error: BaseException) -> bool:
            return getattr(error, "code", 0) in self

    codes = Codes([404])

    assert Failed(unrecoverable=(codes,)).unrecoverable == (MessageDeserializationError, codes)


def test_the_defaults_are_nservicebus_ones() -> None:
    assert Recoverability() == Recoverability(
        Immediate(max_retries=5),
        Delayed(max_retries=3, time_increase=seconds(10), backoff=None, jitter=0.0, max_total_time=None),
        Failed(error_queue=None, unrecoverable=()),
        policy=None,
    )
