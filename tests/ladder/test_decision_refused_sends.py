"""What follows when a broker does not take a copy: repetitions with growing pauses, or a deferral that is sent on without its handler."""

from __future__ import annotations

from itertools import pairwise

import pytest

from builders import ERROR_QUEUE, QUEUE, Boom, decision, delivery, environment, platform, recoverability, seconds
from recoverable._flow.invocation import Invocation
from recoverable._flow.settle import settle_without_attempt
from recoverable._ladder import delivery as counting
from recoverable._ladder.backoff import delay_after_refusal, pauses
from recoverable._ladder.decision import deferral_after_refusal, forward_given_up
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.faults import EXCEPTION_MESSAGE, FAILED_QUEUE
from recoverable._ladder.settlement import Forward
from recoverable.headers import (
    DELAYED_RETRIES,
    DUE_AT,
    HELD_SINCE,
    MESSAGE_ID,
    PRIOR_ATTEMPTS,
    REFUSED_SENDS,
    RETRY_HEADERS,
)
from recoverable.hosting import Deadline

GIVEN_UP = {REFUSED_SENDS: "3", FAILED_QUEUE: QUEUE, EXCEPTION_MESSAGE: "no", "tenant": "blue"}


def restored(**headers: str) -> Delivery:
    """Return a first delivery with the retry state that its headers carry."""
    received = delivery(headers=headers)
    counting.restore_retry_state(received, "native", 5)
    return received


def test_a_refused_error_copy_is_deferred_to_its_own_queue_with_its_fault_headers() -> None:
    refused = decision(Boom("no"), settings=recoverability(0, 0)).settlement
    assert isinstance(refused, Forward)

    deferred = deferral_after_refusal(delivery(), refused)

    assert (refused.to, refused.changes[EXCEPTION_MESSAGE]) == (ERROR_QUEUE, "no")
    assert deferred == Forward(QUEUE, seconds(2.5), {**refused.changes, REFUSED_SENDS: "1"})


def test_each_refusal_is_counted_and_doubles_the_delay() -> None:
    received = delivery(headers=GIVEN_UP)

    deferred = deferral_after_refusal(received, forward_given_up(received, ERROR_QUEUE))

    assert (deferred.delay, deferred.changes[REFUSED_SENDS]) == (seconds(20), "4")


@pytest.mark.parametrize(
    ("refusals", "delay"), [(0, 2.5), (1, 5), (2, 10), (8, 640), (9, 900), (10, 900), (10_000, 900)]
)
def test_the_delay_grows_from_two_and_a_half_seconds_to_fifteen_minutes(refusals: int, delay: float) -> None:
    assert delay_after_refusal(refusals) == seconds(delay)


def test_a_message_that_was_given_up_goes_to_the_configured_error_queue_with_its_fault_headers_as_they_are() -> None:
    received = delivery(headers=GIVEN_UP | {"Recoverable.MoveTo": "another"})

    assert forward_given_up(received, ERROR_QUEUE) == Forward(
        ERROR_QUEUE, seconds(0), {MESSAGE_ID: "m-1", **dict.fromkeys(RETRY_HEADERS)}
    )


def test_its_handler_does_not_run() -> None:
    invocation = Invocation(recoverability(), platform(), environment(), Deadline())

    settlement = settle_without_attempt(restored(**GIVEN_UP), invocation)

    assert isinstance(settlement, Forward)
    assert (settlement.to, settlement.changes[REFUSED_SENDS]) == (ERROR_QUEUE, None)


@pytest.mark.parametrize(
    ("headers", "given_up"),
    [
        ({}, False),
        ({REFUSED_SENDS: "1", FAILED_QUEUE: QUEUE}, True),
        ({REFUSED_SENDS: "0", FAILED_QUEUE: QUEUE}, False),
        ({REFUSED_SENDS: "-1", FAILED_QUEUE: QUEUE}, False),
        ({REFUSED_SENDS: "yes", FAILED_QUEUE: QUEUE}, False),
        ({REFUSED_SENDS: "1"}, False),
        ({DELAYED_RETRIES: "1", PRIOR_ATTEMPTS: "2", HELD_SINCE: "x", DUE_AT: "x"}, False),
    ],
)
def test_a_counter_from_one_on_beside_its_failed_queue_says_that_a_message_was_given_up(
    headers: dict[str, str], *, given_up: bool
) -> None:
    assert restored(**headers).given_up is given_up


@pytest.mark.parametrize("within", [0.0, 0.2, 0.25, 3.0, 60.0])
def test_pauses_grow_and_stay_within_the_time(within: float) -> None:
    all_pauses = list(pauses(within))

    assert sum(all_pauses) <= within
    assert all(later >= earlier for earlier, later in pairwise(all_pauses))


def test_a_minute_has_pauses_of_up_to_eight_seconds() -> None:
    assert list(pauses(60)) == [0.25, 0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8]
