"""What can be observed: a bad setting is refused at once and says what to write instead; a good one is a value."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from builders import seconds
from recoverable import Facts, Message, Recoverability
from recoverable.extensions import Observe


def page(facts: Facts, message: Message) -> None:
    """Do nothing."""


async def page_later(facts: Facts, message: Message) -> None:
    """Do nothing, as a coroutine."""


async def redact_later(text: str) -> str:
    """Return the text, as a coroutine: a redactor must not be one."""
    return text


def test_nothing_is_called_and_nothing_redacted_by_default() -> None:
    observe = Observe()

    callbacks = (observe.on_immediate_retry, observe.on_delayed_retry, observe.on_error, observe.on_discard)
    assert (callbacks, Recoverability().redact) == ((None, None, None, None), None)
    assert (observe.callbacks_within, observe.cloudwatch_namespace) == (timedelta(seconds=1), "Recoverable")
    assert (observe.metrics, observe.traces, observe.successes) == (True, True, False)


@pytest.mark.parametrize("callback", [page, page_later])
def test_a_callback_may_be_plain_or_a_coroutine(callback: Any) -> None:
    assert Observe(on_error=callback).on_error is callback


def test_equal_settings_are_equal() -> None:
    assert Observe(on_error=page, callbacks_within=seconds(2)) == Observe(on_error=page, callbacks_within=seconds(2))


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"on_error": "page"}, TypeError, r"Observe\(on_error\) is 'page'; write a function \(facts, message\)"),
    ({"on_discard": Message}, TypeError, "is Message; write a function"),
    ({"callbacks_within": 1}, TypeError, "write a timedelta"),
    ({"callbacks_within": timedelta(hours=1)}, ValueError, "write a timedelta from 0 to 0:01:00"),
    ({"metrics": "yes"}, TypeError, "write True or False"),
    ({"traces": 1}, TypeError, "write True or False"),
    ({"successes": None}, TypeError, "write True or False"),
    ({"cloudwatch_namespace": 3}, TypeError, "write a name such as 'Shop', or None"),
    ({"cloudwatch_namespace": " "}, ValueError, "write up to 255 characters"),
    ({"cloudwatch_namespace": "AWS/SQS"}, ValueError, "not AWS/"),
    ({"cloudwatch_namespace": "x" * 256}, ValueError, "write up to 255 characters"),
]


@pytest.mark.parametrize(("settings", "error", "text"), REFUSED, ids=[str(each[0])[:40] for each in REFUSED])
def test_a_bad_setting_is_refused(settings: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Observe(**settings)


@pytest.mark.parametrize(
    ("redact", "text"),
    [("***", "write a function from text to text"), (redact_later, "by a plain def")],
    ids=["text", "coroutine"],
)
def test_a_redactor_that_is_no_plain_function_is_refused(redact: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        Recoverability(redact=redact)
