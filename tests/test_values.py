"""Settings, settlements and what brokers can do are values: equal, hashable, printable, replaceable, and nobody changes them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from builders import Boom, platform, seconds
from recoverable import (
    Delayed,
    DelayedRetry,
    Discard,
    Exponential,
    Failed,
    Immediate,
    ImmediateRetry,
    MoveToError,
    Recoverability,
    RetryAfter,
    default_policy,
)
from recoverable._ladder.delivery import Deferral
from recoverable._ladder.settlement import Complete, Forward, Redeliver

MAKERS: dict[str, Callable[[], Any]] = {
    "Immediate": lambda: Immediate(2),
    "Delayed": lambda: Delayed(2, backoff=Exponential(seconds(1)), jitter=0.5, max_total_time=seconds(9)),
    "Exponential": lambda: Exponential(seconds(1), 3, seconds(60)),
    "Failed": lambda: Failed("orders-error", (Boom,)),
    "Recoverability": lambda: Recoverability(Immediate(2), policy=default_policy),
    "Platform": platform,
    "Deferral": lambda: Deferral(seconds(1), "rate limited", hop=True),
    "Complete": Complete,
    "Redeliver": lambda: Redeliver(seconds(1)),
    "ImmediateRetry": ImmediateRetry,
    "DelayedRetry": lambda: DelayedRetry(seconds(1)),
    "MoveToError": lambda: MoveToError("rejected"),
    "Discard": lambda: Discard("out of date"),
}
every_value = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@every_value
def test_equal_values_are_equal_and_have_the_same_hash(make: Callable[[], Any]) -> None:
    assert (make() == make(), hash(make()) == hash(make())) == (True, True)


@every_value
def test_it_comes_back_from_a_copy_and_a_pickle(make: Callable[[], Any]) -> None:
    value = make()

    assert [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))] == [value] * 3


@every_value
def test_it_takes_no_new_attribute(make: Callable[[], Any]) -> None:
    value = make()

    with pytest.raises((AttributeError, TypeError)):
        value.colour = "red"


def test_values_of_different_kinds_or_content_differ() -> None:
    assert len({Immediate(1), Immediate(2), Redeliver(None), Redeliver(seconds(0)), Complete()}) == 5
    assert Immediate(1) != 1


def test_a_setting_cannot_be_changed_or_deleted() -> None:
    immediate = Immediate(2)

    with pytest.raises(AttributeError, match=r"^Immediate\.max_retries cannot be set to 3: make a new Immediate$"):
        immediate.max_retries = 3  # type: ignore[misc]  # as type checkers say too
    with pytest.raises(AttributeError, match=r"^Immediate\.max_retries cannot be deleted$"):
        del immediate.max_retries

    assert immediate == Immediate(2)


def test_it_prints_as_it_is_written() -> None:
    printed = repr(Exponential(timedelta(seconds=1), factor=3.0, maximum=timedelta(seconds=60)))

    assert printed == (
        "Exponential(initial=datetime.timedelta(seconds=1), factor=3.0, maximum=datetime.timedelta(seconds=60))"
    )


def test_the_whole_ladder_prints_in_full() -> None:
    assert repr(Recoverability(failed=Failed("orders-error"))) == (
        "Recoverability(immediate=Immediate(max_retries=5, in_process=False), "
        "delayed=Delayed(max_retries=3, time_increase=datetime.timedelta(seconds=10), backoff=None, jitter=0.0, max_total_time=None), "
        "failed=Failed(error_queue='orders-error', unrecoverable=(<class 'recoverable.MessageDeserializationError'>,)), "
        "rate_limit=None, policy=None, observe=None)"
    )


def test_a_replaced_part_leaves_the_original_as_it_is() -> None:
    before = Recoverability()

    after = before.__replace__(immediate=Immediate(1))

    assert (before, after) == (Recoverability(), Recoverability(Immediate(1)))


def test_a_replaced_part_is_checked_as_any_other() -> None:
    with pytest.raises(ValueError, match=r"^Immediate\(max_retries\) is -1; "):
        Immediate().__replace__(max_retries=-1)


def test_a_forward_compares_by_its_changes() -> None:
    assert Forward("orders", seconds(1), {"a": "1"}) == Forward("orders", seconds(1), {"a": "1"})
    assert Forward("orders", seconds(1), {"a": "1"}) != Forward("orders", seconds(1), {"a": None})


def test_retry_after_comes_back_from_a_pickle() -> None:
    back = pickle.loads(pickle.dumps(RetryAfter(seconds(30), "busy")))

    assert (type(back), back.delay, str(back)) == (RetryAfter, seconds(30), "busy")


def test_retry_after_says_when_unless_it_has_a_reason() -> None:
    assert (str(RetryAfter(seconds(30))), str(RetryAfter(seconds(30), "busy"))) == ("retry after 0:00:30", "busy")


class Named(Exponential):
    """A user's own backoff: one field has another default, and one is new."""

    initial: timedelta = seconds(2)
    name: str = "mine"


def test_a_subclass_has_the_fields_of_its_base_class_and_its_own() -> None:
    values = [Named(), Named(seconds(1), 3, name="other")]

    assert [(each.initial, each.factor, each.name) for each in values] == [
        (seconds(2), 2.0, "mine"),
        (seconds(1), 3, "other"),
    ]
