"""The retry log: NServiceBus's texts and levels under our logger names, with facts to search by and no body in it.

The sequence is that of the NServiceBus docs, "Recoverability", "Retry logging". NServiceBus.AcceptanceTests, upstream → here:
When_immediate_retries_are_enabled, When_delayed_retries_with_immediate_retries_disabled, When_message_fails_retries (exactly so many lines) →
test_the_log_of_a_message_that_always_fails; When_subscribing_to_error_notifications (the text of the exception is in it) → test_the_exception_travels_along.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest

from builders import BODY, ERROR_QUEUE, QUEUE, Boom, decision, delivery, message, recoverability, seconds
from recoverable import (
    Action,
    DelayedRetry,
    Discard,
    ImmediateRetry,
    MessageDeserializationError,
    MoveToError,
    Recoverability,
)
from recoverable._ladder.delivery import Deferral
from recoverable._ladder.settlement import Platform
from recoverable._observe.log import report, time_span

Line = tuple[str, str, str]
IMMEDIATE: Line = (
    "recoverable.immediate_retry",
    "INFO",
    "Immediate Retry is going to retry message 'm-1' because of an exception:",
)
SECRET = "hunter2"
ERROR: Line = (
    "recoverable.move_to_error",
    "ERROR",
    "Moving message 'm-1' to the error queue 'orders-error' because processing failed due to an exception:",
)


def delayed(by: str) -> Line:
    """Return the line of a delayed retry."""
    text = f"Delayed Retry will reschedule message 'm-1' after a delay of {by} because of an exception:"
    return ("recoverable.delayed_retry", "WARNING", text)


@pytest.fixture(autouse=True)
def _everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="recoverable")


def lines(caplog: pytest.LogCaptureFixture) -> list[Line]:
    """Return the log as logger, level and text."""
    return [(record.name, record.levelname, record.getMessage()) for record in caplog.records]


def answering(action: Action) -> Recoverability:
    """Return a policy that always gives this answer."""
    return recoverability(policy=lambda settings, context: action)


def test_the_log_of_a_message_that_always_fails(caplog: pytest.LogCaptureFixture) -> None:
    settings = recoverability(3, 2, time_increase=seconds(10))

    for made in range(3):
        for count in range(1, 5):
            report(decision(of=delivery(deliveries=count, round=made), settings=settings))

    assert lines(caplog) == [
        *[IMMEDIATE] * 3, delayed("00:00:10"),
        *[IMMEDIATE] * 3, delayed("00:00:20"),
        *[IMMEDIATE] * 3, ERROR,
    ]  # fmt: skip


def test_a_discarded_message_is_named_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    report(decision(settings=answering(Discard("out of date"))))

    assert lines(caplog) == [("recoverable.discard", "INFO", "Discarding message with id 'm-1'. Reason: out of date")]


def test_a_deferral_says_that_it_is_no_attempt(caplog: pytest.LogCaptureFixture) -> None:
    report(decision(Deferral(seconds(90), "rate limited")))

    text = "Deferring message 'm-1' for 00:01:30: rate limited. This counts as no attempt."
    assert lines(caplog) == [("recoverable.deferral", "INFO", text)]


def test_a_deferral_where_order_is_kept_says_that_it_uses_up_a_delivery(caplog: pytest.LogCaptureFixture) -> None:
    report(decision(Deferral(seconds(90), "rate limited"), on=Platform(redelivers_only=True)))
    report(decision(Deferral(seconds(90), "rate limited", in_place=True), on=Platform(redelivers_only=True)))

    said = "Deferring message 'm-1' for 00:01:30: rate limited. "
    waits = "It waits in its queue, which uses up one of its deliveries."
    assert [text for _, _, text in lines(caplog)] == [f"{said}{waits}", f"{said}This counts as no attempt."]


def test_warnings_come_before_what_is_done(caplog: pytest.LogCaptureFixture) -> None:
    nonsense: Any = lambda settings, context: "retry"  # noqa: E731  # one word is enough for nonsense

    report(decision(settings=recoverability(policy=nonsense)))

    warning = "The recoverability policy returned 'retry', which is no action. The next simpler policy decides for this message."
    assert lines(caplog) == [("recoverable.policy", "WARNING", warning), IMMEDIATE]


def test_what_a_policy_raises_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def careless(_settings: object, _context: object) -> Action:
        raise KeyError("code")

    report(decision(settings=recoverability(policy=careless)))

    assert [record.name for record in caplog.records if record.exc_info] == [
        "recoverable.policy",
        "recoverable.immediate_retry",
    ]
    assert "in careless" in caplog.text


@pytest.mark.parametrize("action", [ImmediateRetry(), DelayedRetry(seconds(1)), MoveToError()])
def test_the_exception_travels_along(action: Action, caplog: pytest.LogCaptureFixture) -> None:
    failure = Boom("card declined")

    report(decision(failure, settings=answering(action)))

    assert [record.exc_info for record in caplog.records] == [(Boom, failure, None)]
    assert "card declined" in caplog.text


def test_a_discarded_failure_and_a_deferral_show_no_exception(caplog: pytest.LogCaptureFixture) -> None:
    report(decision(settings=answering(Discard("out of date"))))
    report(decision(Deferral(seconds(1), "rate limited")))

    assert [record.exc_info for record in caplog.records] == [None, None]


FACTS = {"message_id": "m-1", "attempt": 2, "round": 1, "queue": QUEUE}


def fields(action: str, **more: object) -> dict[str, object]:
    """Return the fields of a line about an exception."""
    return {**FACTS, "action": action, "exception_type": "builders.Boom", **more}


EXTRAS: dict[str, tuple[Any, Recoverability, dict[str, object]]] = {
    "an immediate retry": (Boom(), answering(ImmediateRetry()), fields("immediate_retry")),
    "a delayed retry": (Boom(), answering(DelayedRetry(seconds(2.5))), fields("delayed_retry", delay_seconds=2.5)),
    "a move to the error queue": (Boom(), answering(MoveToError()), fields("move_to_error", error_queue=ERROR_QUEUE)),
    "a move to another one": (Boom(), answering(MoveToError("r")), fields("move_to_error", error_queue="r")),
    "a discard": (Boom(), answering(Discard("out of date")), fields("discard")),
    "a deferral": (
        Deferral(seconds(90), "rate limited"), recoverability(), FACTS | {"action": "deferral", "delay_seconds": 90.0},
    ),
}  # fmt: skip
STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


@pytest.mark.parametrize(("event", "settings", "expected"), EXTRAS.values(), ids=EXTRAS)
def test_a_structured_log_can_be_searched(
    event: Any, settings: Recoverability, expected: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    report(decision(event, of=delivery(deliveries=2, attempt=2, round=1), settings=settings))

    (record,) = caplog.records
    assert {name: fact for name, fact in vars(record).items() if name not in STANDARD} == expected


def test_warnings_can_be_searched_too(caplog: pytest.LogCaptureFixture) -> None:
    nonsense: Any = lambda settings, context: None  # noqa: E731  # one word is enough for nonsense

    report(decision(settings=recoverability(policy=nonsense)))

    warning = caplog.records[0]
    assert (warning.name, vars(warning)["message_id"]) == ("recoverable.policy", "m-1")


def test_no_body_is_ever_logged(caplog: pytest.LogCaptureFixture) -> None:
    everything: list[Any] = [settings for _, settings, _ in EXTRAS.values()]

    for settings in everything:
        report(decision(settings=settings, of=delivery(body=BODY)))
    report(decision(Deferral(seconds(1), "rate limited"), of=delivery(body=BODY)))

    texts = [str(vars(record)) + record.getMessage() for record in caplog.records]
    assert len(texts) == len(everything) + 1
    assert not [text for text in texts if "order" in text.replace(QUEUE, "").replace(ERROR_QUEUE, "")]


def test_what_a_model_quotes_of_an_unreadable_body_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Models such as pydantic's show the input in their errors; those stay on the message, in the error queue."""

    def picky(body: bytes) -> None:
        raise ValueError(f"no order in {body!r}")

    with pytest.raises(MessageDeserializationError) as caught:
        message(SECRET).parse(picky)
    report(decision(caught.value))

    assert "cannot be read: ValueError" in caplog.text
    assert SECRET not in caplog.text


def test_an_exception_whose_text_cannot_be_had_is_logged_all_the_same(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise Boom

    report(decision(Unspeakable()))

    assert lines(caplog) == [IMMEDIATE]
    assert "exception str() failed" in caplog.text
    assert capsys.readouterr().err == ""


SPANS = {
    timedelta(0): "00:00:00",
    seconds(10): "00:00:10",
    seconds(90): "00:01:30",
    timedelta(hours=23, minutes=59, seconds=59): "23:59:59",
    timedelta(days=1): "1.00:00:00",
    timedelta(days=365): "365.00:00:00",
    seconds(0.5): "00:00:00.5000000",
    timedelta(microseconds=1): "00:00:00.0000010",
    timedelta(days=2, hours=3, minutes=4, seconds=5, microseconds=67): "2.03:04:05.0000670",
}


@pytest.mark.parametrize(("delay", "text"), SPANS.items(), ids=SPANS.values())
def test_delays_are_written_as_dotnet_writes_them(delay: timedelta, text: str) -> None:
    assert time_span(delay) == text
