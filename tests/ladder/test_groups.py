"""Exception groups: what decides about them, and what their copy says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from builders import ERROR_QUEUE, NOW, Boom, decision, error_context, platform, recoverability, seconds
from recoverable import (
    Action,
    DelayedRetry,
    ErrorContext,
    ImmediateRetry,
    MessageDeserializationError,
    MoveToError,
    Recoverability,
    RetryAfter,
    default_policy,
)
from recoverable._ladder.faults import fault_headers

ERROR = MoveToError(ERROR_QUEUE)
MANY = 10_000


class Declined(Exception):
    """A failure that retries do not heal."""


class Fraud(Exception):
    """Another."""


class OrderFailures(ExceptionGroup[Exception]):
    """A group of the author's own."""


class WithoutText(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


ONE = Declined("no")


def group(*errors: BaseException, deep: int = 1) -> BaseException:
    """Return a group of these, in so many groups."""
    made: BaseException = BaseExceptionGroup("several", errors)
    for _ in range(deep - 1):
        made = BaseExceptionGroup("around", [made])
    return made


def is_declined(error: BaseException) -> bool:
    """True if it is a `Declined`."""
    return isinstance(error, Declined)


FINAL: dict[str, tuple[Sequence[Any], BaseException, Action]] = {
    "its one leaf": ([Declined], group(Declined()), ERROR),
    "its one leaf, three groups deep": ([Declined], group(Declined(), deep=3), ERROR),
    "each of its leaves": ([Declined], group(Declined(), group(Declined())), ERROR),
    "each of many leaves": ([Declined], group(*[Declined() for _ in range(MANY)]), ERROR),
    "all but one of many leaves": ([Declined], group(*[Declined() for _ in range(MANY)], Boom()), ImmediateRetry()),
    "its one leaf, a thousand groups deep": ([Declined], group(Declined(), deep=1_000), ERROR),
    "leaves of two kinds": ([Declined, Fraud], group(Declined(), Fraud()), ERROR),
    "one leaf of two": ([Declined], group(Declined(), Boom()), ImmediateRetry()),
    "what a predicate says of each leaf": ([is_declined], group(Declined(), Declined()), ERROR),
    "what a predicate says of one leaf": ([is_declined], group(Boom(), Declined()), ImmediateRetry()),
    "the group's own type": ([OrderFailures], OrderFailures("order 42", [Boom()]), ERROR),
    "a body that cannot be read": ([], group(MessageDeserializationError("no JSON")), ERROR),
    "a leaf without a text": ([WithoutText], group(WithoutText()), ERROR),
}  # fmt: skip


@pytest.mark.parametrize(("unrecoverable", "raised", "expected"), FINAL.values(), ids=FINAL)
def test_a_group_is_unrecoverable_if_itself_or_each_of_its_leaves_is(
    unrecoverable: Sequence[Any], raised: BaseException, expected: Action
) -> None:
    assert default_policy(recoverability(unrecoverable=tuple(unrecoverable)), error_context(raised)) == expected


WAITING: dict[str, tuple[BaseException, Action]] = {
    "one": (group(RetryAfter(seconds(300))), DelayedRetry(seconds(300))),
    "one, three groups deep": (group(RetryAfter(seconds(300)), deep=3), DelayedRetry(seconds(300))),
    "the longest of several": (
        group(RetryAfter(seconds(60)), RetryAfter(seconds(300)), RetryAfter(seconds(5))),
        DelayedRetry(seconds(300)),
    ),
    "one beside another failure": (group(Boom(), RetryAfter(seconds(300))), DelayedRetry(seconds(300))),
    "one beside an unrecoverable failure": (group(Declined(), RetryAfter(seconds(300))), DelayedRetry(seconds(300))),
    "one of many": (group(*[Boom() for _ in range(MANY)], RetryAfter(seconds(300))), DelayedRetry(seconds(300))),
}


@pytest.mark.parametrize(("raised", "expected"), WAITING.values(), ids=WAITING)
def test_a_group_waits_as_long_as_its_leaves_ask_for(raised: BaseException, expected: Action) -> None:
    assert default_policy(recoverability(unrecoverable=(Declined,)), error_context(raised)) == expected


def test_an_unrecoverable_group_does_not_wait() -> None:
    settings = recoverability(unrecoverable=(RetryAfter, Declined))

    assert default_policy(settings, error_context(group(Declined(), RetryAfter(seconds(300))))) == ERROR


def test_a_policy_gets_what_was_raised() -> None:
    seen: list[BaseException] = []

    def policy(_: Recoverability, context: ErrorContext) -> Action:
        seen.append(context.exception)
        return ImmediateRetry()

    failed = group(Declined())
    decision(failed, settings=recoverability(policy=policy))

    assert seen == [failed]


def faults(exception: BaseException) -> dict[str, str]:
    """Return the headers about the exception itself, by the rest of their names."""
    every = fault_headers(exception, queue="orders", platform=platform(), now=NOW)
    info = "NServiceBus.ExceptionInfo."
    return {name.removeprefix(info): text for name, text in every.items() if name.startswith(info)}


def noted(exception: BaseException, *notes: str) -> BaseException:
    """Return the exception with these notes."""
    for note in notes:
        exception.add_note(note)
    return exception


NAMED: dict[str, tuple[BaseException, str, str]] = {
    "one leaf is that leaf": (group(Declined("card expired")), f"{__name__}.Declined", "card expired"),
    "one leaf, three groups deep": (group(Declined("no"), deep=3), f"{__name__}.Declined", "no"),
    "one leaf, a thousand groups deep": (group(Declined("no"), deep=1_000), f"{__name__}.Declined", "no"),
    "one leaf twice": (group(ONE, group(ONE)), f"{__name__}.Declined", "no"),
    "several are named, each by its type and first line": (
        group(Declined("card expired\nby a year"), group(KeyError("a"))),
        "ExceptionGroup",
        f"several (2 sub-exceptions)\n{__name__}.Declined: card expired\nKeyError: 'a'",
    ),
    "one without a text is named too": (
        group(WithoutText(), Boom("no")),
        "ExceptionGroup",
        "several (2 sub-exceptions)\n"
        f"{__name__}.WithoutText: Could not read Message from exception type '{__name__}.WithoutText'.\n"
        "builders.Boom: no",
    ),
    "of many a hundred are named": (
        group(*[Boom(str(number)) for number in range(MANY)]),
        "ExceptionGroup",
        f"several ({MANY} sub-exceptions)\n"
        + "".join(f"builders.Boom: {number}\n" for number in range(100))
        + "and 9,900 more",
    ),
    "a group of the author's own keeps its type and text": (
        OrderFailures("order 42", [Boom()]),
        f"{__name__}.OrderFailures",
        "order 42 (1 sub-exception)",
    ),
}


@pytest.mark.parametrize(("exception", "kind", "text"), NAMED.values(), ids=NAMED)
def test_a_copy_says_what_a_group_holds(exception: BaseException, kind: str, text: str) -> None:
    said = faults(exception)

    assert (said["ExceptionType"], said["Message"]) == (kind, text)


def test_a_group_with_one_leaf_is_around_it_in_the_trace_and_its_cause_is_the_inner_one() -> None:
    leaf = Declined("no")
    leaf.__cause__ = KeyError("card")

    said = faults(group(leaf))

    assert said["InnerExceptionType"] == "KeyError"
    assert said["StackTrace"].splitlines()[0] == (
        f"ExceptionGroup: several (1 sub-exception) ---> {__name__}.Declined: no ---> KeyError: 'card'"
    )


def test_notes_of_causes_and_leaves_are_on_the_copy() -> None:
    first, second = noted(Declined(), "while paying"), noted(Boom(), "order 42", "line 3")
    first.__cause__ = noted(KeyError("card"), "no card")

    said = faults(noted(group(first, second), "both"))

    assert said["Data.Notes"] == "both\nwhile paying\nno card\norder 42\nline 3"


def test_the_notes_of_what_a_chain_is_too_long_for_are_there_for_each_leaf_that_is_named() -> None:
    leaves = [noted(Boom(), str(number)) for number in range(30)]

    assert faults(group(*leaves))["Data.Notes"].splitlines() == [str(number) for number in range(30)]
