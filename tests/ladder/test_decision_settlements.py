"""What an adapter must do, with the headers of each copy as whole dicts.

NServiceBus.Core.Tests, upstream → here:

    DelayedRetryRecoverabilityActionTests.When_delay_message_retry                     → test_a_first_delayed_retry_starts_the_next_round
    ....Should_update_retry_headers_when_present                                       → test_a_later_delayed_retry_counts_on
    ....Should_add_retry_headers_when_not_present                                      → test_a_first_delayed_retry_starts_the_next_round
    DiscardRecoverabilityActionTests.Discard_action_should_discard_message             → test_a_discarded_message_is_complete
    MoveToErrorsExecutorTests.should_route_message_to_error_queue                      → test_a_message_moves_to_the_error_queue_...
    ....should_preserve_incoming_message_headers                                       → test_the_incoming_headers_stay_as_they_are: we say changes only
    ....should_remove_known_retry_headers, ....should_add_metadata_to_headers          → test_a_message_moves_to_the_error_queue_...
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from builders import (
    ERROR_QUEUE,
    NOW,
    NOW_WRITTEN,
    QUEUE,
    Boom,
    decision,
    delivery,
    platform,
    recoverability,
    seconds,
    written,
)
from recoverable import Discard, Immediate, ImmediateRetry, MoveToError, RetryAfter
from recoverable._ladder.delivery import Deferral
from recoverable._ladder.faults import DATA, EXCEPTION_MESSAGE, INNER_EXCEPTION_TYPE
from recoverable._ladder.settlement import COMPLETE, Forward, Platform, Redeliver
from recoverable.headers import (
    ATTEMPTS,
    CONTENT_TYPE,
    DELAYED_RETRIES,
    DELAYED_RETRY_AT,
    DUE_AT,
    FIRST_DELAYED_RETRY_AT,
    FIRST_FAILED_AT,
    GRANTED,
    HELD_SINCE,
    MESSAGE_ID,
    ORIGIN,
    PRIOR_ATTEMPTS,
    REFUSED_SENDS,
    REPORTED,
    STOPPED,
    TIME_SENT,
    UNREPORTED,
)

HEADER = platform("header")
IN_PLACE = platform(redelivers_only=True, longest_delay=None)
A_MINUTE_AGO, AN_HOUR_AGO = NOW - timedelta(minutes=1), NOW - timedelta(hours=1)


def test_an_immediate_retry_redelivers_the_same_message_at_once() -> None:
    assert decision().settlement == Redeliver(seconds(0))


@pytest.mark.parametrize(("prior_attempts", "written_count"), [(0, "1"), (1, "2")])
def test_an_immediate_retry_that_is_a_copy_carries_the_count(prior_attempts: int, written_count: str) -> None:
    made = decision(of=delivery(prior_attempts=prior_attempts, sent_at=AN_HOUR_AGO), on=HEADER)

    assert made.settlement == Forward(
        QUEUE,
        seconds(0),
        {
            MESSAGE_ID: "m-1",
            TIME_SENT: written(AN_HOUR_AGO),
            PRIOR_ATTEMPTS: written_count,
            REPORTED: "1",
            FIRST_FAILED_AT: NOW_WRITTEN,
            DUE_AT: None,
        },
    )


GRANTING = recoverability(2, policy=lambda settings, context: ImmediateRetry())


@pytest.mark.parametrize(
    ("on", "of", "count"),
    [
        (platform(), {"deliveries": 3}, "3"),
        (platform(), {"deliveries": 2, "prior_attempts": 3}, "5"),
        (HEADER, {"prior_attempts": 2}, "3"),
        (HEADER, {"prior_attempts": 3, "deliveries": 2}, "4"),
    ],
)
def test_an_immediate_retry_past_the_setting_is_a_copy_that_carries_the_count_and_that_it_was_granted(
    on: Platform, of: dict[str, Any], count: str
) -> None:
    made = decision(of=delivery(**of), settings=GRANTING, on=on)

    assert made.settlement == Forward(
        QUEUE,
        seconds(0),
        {
            MESSAGE_ID: "m-1",
            PRIOR_ATTEMPTS: count,
            GRANTED: count,
            REPORTED: "1",
            FIRST_FAILED_AT: NOW_WRITTEN,
            DUE_AT: None,
        },
    )


def test_an_immediate_retry_past_the_setting_goes_on_in_process() -> None:
    settings = GRANTING.replace(immediate=Immediate(2, in_process=True))

    assert decision(of=delivery(prior_attempts=2), settings=settings).settlement == Redeliver(seconds(0))


def test_a_deferral_keeps_what_was_granted() -> None:
    headers = {PRIOR_ATTEMPTS: "7", GRANTED: "7", FIRST_FAILED_AT: NOW_WRITTEN}

    made = decision(Deferral(seconds(5), "no time left"), of=delivery(headers=headers)).settlement

    assert isinstance(made, Forward)
    assert GRANTED not in made.changes


@pytest.mark.parametrize("on", [platform(), HEADER], ids=["native", "header"])
def test_a_first_delayed_retry_starts_the_next_round(on: Any) -> None:
    made = decision(of=delivery(prior_attempts=2, sent_at=AN_HOUR_AGO), settings=recoverability(2), on=on)

    assert made.settlement == Forward(
        QUEUE,
        seconds(2),
        {
            MESSAGE_ID: "m-1",
            TIME_SENT: written(AN_HOUR_AGO),
            DELAYED_RETRIES: "1",
            DELAYED_RETRY_AT: NOW_WRITTEN,
            FIRST_DELAYED_RETRY_AT: NOW_WRITTEN,
            ATTEMPTS: "3",
            FIRST_FAILED_AT: NOW_WRITTEN,
            PRIOR_ATTEMPTS: None,
            REPORTED: None,
            GRANTED: None,
            DUE_AT: None,
        },
    )


def test_a_later_delayed_retry_counts_on() -> None:
    headers = {
        DELAYED_RETRIES: "1",
        DELAYED_RETRY_AT: written(A_MINUTE_AGO),
        FIRST_DELAYED_RETRY_AT: written(AN_HOUR_AGO),
        ATTEMPTS: "3",
        FIRST_FAILED_AT: written(AN_HOUR_AGO),
    }

    made = decision(of=delivery(deliveries=3, round=1, headers=headers))

    assert made.settlement == Forward(
        QUEUE,
        seconds(4),
        {
            MESSAGE_ID: "m-1",
            DELAYED_RETRIES: "2",
            DELAYED_RETRY_AT: NOW_WRITTEN,
            FIRST_DELAYED_RETRY_AT: written(AN_HOUR_AGO),
            ATTEMPTS: "6",
            FIRST_FAILED_AT: written(AN_HOUR_AGO),
            PRIOR_ATTEMPTS: None,
            REPORTED: None,
            GRANTED: None,
            DUE_AT: None,
        },
    )


def test_a_delay_longer_than_the_broker_can_hops_and_says_when_it_is_due() -> None:
    made = decision(RetryAfter(timedelta(hours=2)), on=platform(longest_delay=timedelta(minutes=15)))

    assert isinstance(made.settlement, Forward)
    assert made.settlement.delay == timedelta(minutes=15)
    assert made.settlement.changes[DUE_AT] == written(NOW + timedelta(hours=2))


@pytest.mark.parametrize("longest", [timedelta(hours=2), None], ids=["just enough", "without limit"])
def test_a_delay_that_the_broker_can_is_one_copy(longest: timedelta | None) -> None:
    made = decision(RetryAfter(timedelta(hours=2)), on=platform(longest_delay=longest))

    assert isinstance(made.settlement, Forward)
    assert (made.settlement.delay, made.settlement.changes[DUE_AT]) == (timedelta(hours=2), None)


def test_a_hop_changes_nothing_but_how_long_it_still_waits() -> None:
    due = NOW + timedelta(minutes=40)
    held = delivery(deliveries=4, prior_attempts=1, due_at=due, headers={DELAYED_RETRY_AT: written(A_MINUTE_AGO)})

    made = decision(Deferral(timedelta(minutes=40), "it is not yet due", hop=True), of=held)

    assert (made.action, made.settlement) == (
        None,
        Forward(QUEUE, timedelta(minutes=15), {MESSAGE_ID: "m-1", DUE_AT: written(due)}),
    )


def test_the_last_hop_still_says_when_it_is_due() -> None:
    due = NOW + seconds(40)

    made = decision(Deferral(seconds(40), "it is not yet due", hop=True), of=delivery(due_at=due))

    assert made.settlement == Forward(QUEUE, seconds(40), {MESSAGE_ID: "m-1", DUE_AT: written(due)})


def test_a_deferral_keeps_the_counts_and_moves_its_times_forward() -> None:
    headers = {
        DELAYED_RETRIES: "1",
        DELAYED_RETRY_AT: written(A_MINUTE_AGO),
        FIRST_DELAYED_RETRY_AT: written(AN_HOUR_AGO),
    }
    deferred = delivery(deliveries=2, prior_attempts=3, round=1, headers=headers, sent_at=AN_HOUR_AGO)

    made = decision(Deferral(seconds(30), "rate limited"), of=deferred)

    assert made.settlement == Forward(
        QUEUE,
        seconds(30),
        {
            MESSAGE_ID: "m-1",
            TIME_SENT: written(AN_HOUR_AGO),
            DELAYED_RETRY_AT: written(A_MINUTE_AGO + seconds(30)),
            FIRST_DELAYED_RETRY_AT: written(AN_HOUR_AGO + seconds(30)),
            PRIOR_ATTEMPTS: "4",
            REPORTED: "1",
            HELD_SINCE: NOW_WRITTEN,
            DUE_AT: None,
        },
    )


def test_a_deferral_of_what_was_never_tried_has_nothing_to_carry() -> None:
    made = decision(Deferral(seconds(0), "no time left"))

    assert made.settlement == Forward(
        QUEUE,
        seconds(0),
        {MESSAGE_ID: "m-1", PRIOR_ATTEMPTS: None, REPORTED: None, HELD_SINCE: NOW_WRITTEN, DUE_AT: None},
    )


def test_a_deferral_remembers_since_when_the_message_is_held() -> None:
    made = decision(Deferral(seconds(30), "rate limited"), of=delivery(held_since=AN_HOUR_AGO))

    assert isinstance(made.settlement, Forward)
    assert made.settlement.changes[HELD_SINCE] == written(AN_HOUR_AGO)


def test_a_time_at_the_end_of_the_calendar_is_not_moved() -> None:
    headers = {DELAYED_RETRY_AT: "9999-12-31 23:59:59:999999 Z"}

    made = decision(Deferral(seconds(30), "rate limited"), of=delivery(headers=headers))

    assert isinstance(made.settlement, Forward)
    assert DELAYED_RETRY_AT not in made.settlement.changes


@pytest.mark.parametrize("prior_attempts", [9_999, 10_000])
def test_no_count_is_written_that_would_read_as_0(prior_attempts: int) -> None:
    made = decision(Deferral(seconds(0), "no time left"), of=delivery(deliveries=5, prior_attempts=prior_attempts))

    assert isinstance(made.settlement, Forward)
    assert made.settlement.changes[PRIOR_ATTEMPTS] == "10000"


def test_a_message_moves_to_the_error_queue_with_the_reason_and_without_a_trace_of_retries() -> None:
    retries = {DELAYED_RETRIES: "2", DELAYED_RETRY_AT: written(A_MINUTE_AGO), PRIOR_ATTEMPTS: "1"}
    headers = {**retries, ORIGIN: "1", "tenant": "north"}

    made = decision(Boom("it broke"), of=delivery(deliveries=3, round=2, headers=headers, sent_at=AN_HOUR_AGO))

    assert made.settlement == Forward(
        ERROR_QUEUE,
        seconds(0),
        {
            MESSAGE_ID: "m-1",
            TIME_SENT: written(AN_HOUR_AGO),
            DELAYED_RETRIES: None,
            DELAYED_RETRY_AT: None,
            PRIOR_ATTEMPTS: None,
            FIRST_DELAYED_RETRY_AT: None,
            HELD_SINCE: None,
            DUE_AT: None,
            STOPPED: None,
            UNREPORTED: None,
            REPORTED: None,
            REFUSED_SENDS: None,
            GRANTED: None,
            CONTENT_TYPE: "application/json",
            ATTEMPTS: "4",
            FIRST_FAILED_AT: NOW_WRITTEN,
            "NServiceBus.ProcessingMachine": "instance-7",
            "NServiceBus.ProcessingEndpoint": QUEUE,
            "$.diagnostics.hostid": "79f68ddd2605fbecca4cbd7a6622203d",
            "$.diagnostics.hostdisplayname": "place-orders",
            "NServiceBus.FailedQ": QUEUE,
            "NServiceBus.ExceptionInfo.ExceptionType": "builders.Boom",
            "NServiceBus.ExceptionInfo.Message": "it broke",
            "NServiceBus.ExceptionInfo.StackTrace": "builders.Boom: it broke",
            "NServiceBus.TimeOfFailure": NOW_WRITTEN,
        },
    )


def test_fault_headers_of_an_earlier_failure_are_not_on_the_copy_of_this_one() -> None:
    earlier = {INNER_EXCEPTION_TYPE: "OSError", f"{DATA}order": "41", EXCEPTION_MESSAGE: "earlier", "tenant": "north"}
    made = decision(of=delivery(headers=earlier), settings=recoverability(0, 0)).settlement

    assert isinstance(made, Forward)
    assert {name: made.changes[name] for name in earlier if name in made.changes} == {
        INNER_EXCEPTION_TYPE: None,
        f"{DATA}order": None,
        EXCEPTION_MESSAGE: "it broke",
    }


def test_an_error_queue_of_the_policy_is_where_the_copy_goes() -> None:
    made = decision(settings=recoverability(policy=lambda settings, context: MoveToError("rejected")))

    assert isinstance(made.settlement, Forward)
    assert made.settlement.to == "rejected"


def test_a_discarded_message_is_complete() -> None:
    made = decision(settings=recoverability(policy=lambda settings, context: Discard("out of date")))

    assert made.settlement is COMPLETE


IN_PLACE_SETTLEMENTS: dict[str, tuple[Any, dict[str, Any], Redeliver]] = {
    "an immediate retry": (Boom(), {}, Redeliver(seconds(0))),
    "a delayed retry": (Boom(), {"deliveries": 3}, Redeliver(seconds(2))),
    "a RetryAfter": (RetryAfter(timedelta(hours=20)), {}, Redeliver(timedelta(hours=20))),
    "a deferral": (Deferral(seconds(0), "no time left"), {}, Redeliver(seconds(0))),
}


@pytest.mark.parametrize(("event", "parts", "expected"), IN_PLACE_SETTLEMENTS.values(), ids=IN_PLACE_SETTLEMENTS)
def test_in_place_every_retry_redelivers_the_same_message(
    event: Any, parts: dict[str, Any], expected: Redeliver
) -> None:
    assert decision(event, of=delivery(**parts), on=IN_PLACE).settlement == expected


def test_in_place_only_the_error_queue_gets_a_copy() -> None:
    made = decision(of=delivery(deliveries=3, round=2), on=IN_PLACE)

    assert isinstance(made.settlement, Forward)
    assert made.settlement.to == ERROR_QUEUE


EVENTS = [Boom(), RetryAfter(seconds(5)), Deferral(seconds(5), "rate limited"), Deferral(seconds(5), "", hop=True)]


@pytest.mark.parametrize("event", EVENTS, ids=["failure", "retry after", "deferral", "hop"])
@pytest.mark.parametrize("on", [platform(), HEADER, IN_PLACE], ids=["native", "header", "in place"])
def test_the_incoming_headers_stay_as_they_are(event: Any, on: Any) -> None:
    headers = {DELAYED_RETRIES: "2", DELAYED_RETRY_AT: written(A_MINUTE_AGO), "tenant": "north"}
    received = dict(headers)

    decision(event, of=delivery(round=2, headers=headers), on=on)

    assert headers == received
