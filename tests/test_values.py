"""Settings, settlements and what brokers can do are values: equal, hashable, printable, replaceable, and nobody changes them."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from inspect import signature
from typing import Any, get_type_hints

import pytest

from builders import Boom, error_context, platform, seconds
from recoverable import (
    Delayed,
    DelayedRetry,
    Discard,
    ErrorContext,
    Exponential,
    Failed,
    Immediate,
    ImmediateRetry,
    MoveToError,
    RateLimit,
    Recoverability,
    RetryAfter,
    default_policy,
)
from recoverable._ladder.delivery import Deferral
from recoverable._ladder.settlement import Complete, Forward, Redeliver
from recoverable.extensions import Observe, S3Bodies

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
        "rate_limit=None, policy=None, redact=None)"
    )


def test_a_replaced_part_leaves_the_original_as_it_is() -> None:
    before = Recoverability()

    after = before.replace(immediate=Immediate(1))

    assert (before, after) == (Recoverability(), Recoverability(Immediate(1)))


def test_a_replaced_part_is_checked_as_any_other() -> None:
    with pytest.raises(ValueError, match=r"^Immediate\(max_retries\) is -1; "):
        Immediate().replace(max_retries=-1)


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


@dataclass(frozen=True)
class Face:
    """What a public value shows to editors, `help`, `match` and `copy.replace`.

    Args:
        value: an example.
        signature: as `inspect.signature` writes it, without the types.
        places: the fields that `match` takes by place.
        change: a field, and another value of it.
    """

    value: Any
    signature: str
    places: tuple[str, ...]
    change: dict[str, object]


FACES = [
    Face(Immediate(), "(max_retries=5, *, in_process=False)", ("max_retries",), {"max_retries": 1}),
    Face(
        Delayed(),
        "(max_retries=3, time_increase=datetime.timedelta(seconds=10), *, backoff=None, jitter=0.0, max_total_time=None)",
        ("max_retries", "time_increase"),
        {"jitter": 0.5},
    ),
    Face(
        Failed("aside"), "(error_queue=None, unrecoverable=())", ("error_queue", "unrecoverable"), {"error_queue": "b"}
    ),
    Face(
        Recoverability(),
        f"(immediate={Immediate()}, delayed={Delayed()}, failed={Failed()}, *, rate_limit=None, policy=None, redact=None)",
        ("immediate", "delayed", "failed"),
        {"policy": default_policy},
    ),
    Face(
        RateLimit(3),
        "(consecutive_failures, wait=datetime.timedelta(seconds=1), max_hold=datetime.timedelta(days=1), *, "
        "longest_wait=datetime.timedelta(seconds=300), on_started=None, on_ended=None, counts=None, store=None)",
        ("consecutive_failures", "wait", "max_hold"),
        {"consecutive_failures": 4},
    ),
    Face(
        Observe(),
        "(*, on_immediate_retry=None, on_delayed_retry=None, on_error=None, on_discard=None, "
        "callbacks_within=datetime.timedelta(seconds=1), cloudwatch_namespace='Recoverable', "
        "metrics=True, traces=True, successes=False)",
        (),
        {"metrics": False},
    ),
    Face(
        Exponential(seconds(1)),
        "(initial, factor=2.0, maximum=datetime.timedelta(days=365))",
        ("initial", "factor", "maximum"),
        {"factor": 3.0},
    ),
    Face(S3Bodies(("bodies",)), "(buckets, *, delete=False, client=None)", ("buckets",), {"delete": True}),
    Face(ImmediateRetry(), "()", (), {}),
    Face(DelayedRetry(seconds(1)), "(delay)", ("delay",), {"delay": seconds(2)}),
    Face(MoveToError(), "(error_queue=None)", ("error_queue",), {"error_queue": "aside"}),
    Face(Discard("old"), "(reason)", ("reason",), {"reason": "rejected"}),
    Face(
        error_context(),
        f"(*, exception, message, immediate_processing_failures, delayed_deliveries_performed, receive_address, now, carried={ErrorContext.carried})",
        (),
        {"immediate_processing_failures": 2},
    ),
]
every_face = pytest.mark.parametrize("face", FACES, ids=lambda face: type(face.value).__name__)


@every_face
def test_its_signature_names_its_fields(face: Face) -> None:
    signature = inspect.signature(type(face.value))

    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    assert str(inspect.Signature(bare)) == face.signature


@every_face
def test_its_types_can_be_read(face: Face) -> None:
    assert list(get_type_hints(type(face.value))) == list(signature(type(face.value)).parameters)


@every_face
def test_it_can_be_matched_by_place(face: Face) -> None:
    assert type(face.value).__match_args__ == face.places


@every_face
def test_help_shows_its_signature_and_its_arguments(face: Face) -> None:
    shown = pydoc.plain(pydoc.render_doc(type(face.value)))

    assert f"class {type(face.value).__name__}(" in shown
    assert all(f"{name}:" in shown for name in signature(type(face.value)).parameters)


@every_face
def test_it_is_replaced_as_a_dataclass_is(face: Face) -> None:
    changed = face.value.replace(**face.change)

    assert vars(changed) == vars(face.value) | face.change
    if sys.version_info >= (3, 13):
        assert copy.replace(face.value, **face.change) == changed


def test_what_an_instance_that_is_a_function_takes_is_not_what_its_class_takes() -> None:
    assert str(inspect.signature(Exponential(seconds(1)))) == "(retries_made: 'int') -> 'timedelta'"


def test_a_field_by_name_without_a_default_must_be_given() -> None:
    with pytest.raises(TypeError, match=r"write ErrorContext\(exception=\.\.\., message=\.\.\., "):
        ErrorContext(exception=Boom())  # type: ignore[call-arg]  # as type checkers say too
