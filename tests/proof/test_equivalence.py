"""Compare the same ladder on two clouds: attempts, rounds, delays, where each message ends, and its headers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docs.pages import page
from proof.climbing import ERRORS, MAY_DIFFER, Story, on_service_bus, on_sqs
from proof.ladders import ERRORS as ERROR_QUEUE
from proof.policies import own_policy
from recoverable import Delayed, Exponential, Failed, Immediate, Recoverability, default_policy

SECONDS = st.integers(0, 2_400).map(lambda seconds: timedelta(seconds=seconds))
DELAYED = st.one_of(
    st.builds(
        Delayed,
        st.integers(0, 3),
        SECONDS,
        backoff=st.none() | st.builds(Exponential, SECONDS.filter(bool)),
        max_total_time=st.none() | SECONDS,
    ),
    st.builds(Delayed, st.integers(0, 3), SECONDS, jitter=st.sampled_from([0.3, 1.0])),
)
"""Without jitter, delays are whole seconds; with it, there is no limit in time that a rounded delay could miss."""

TIMES = {
    "NServiceBus.TimeOfFailure",
    "NServiceBus.ExceptionInfo.Data.Handler start time",
    "NServiceBus.ExceptionInfo.Data.Handler failure time",
}

LADDERS = st.builds(
    Recoverability,
    st.builds(Immediate, st.integers(0, 3)),
    DELAYED,
    st.builds(Failed, st.just(ERROR_QUEUE), st.sampled_from([(), (KeyError,), (lambda error: 1 / 0,)])),
    policy=st.sampled_from([None, own_policy, default_policy, lambda _ladder, _context: "nonsense"]),
)
SCRIPTS = st.lists(st.lists(st.sampled_from(["ok", *ERRORS]), min_size=1, max_size=6), min_size=1, max_size=4)


def assert_equal(on_lambda: Story, in_functions: Story, *, to_the_second: bool) -> None:
    """Compare two stories of a message; SQS delays by whole seconds, and never by less than was asked.

    Args:
        on_lambda: what came of it on SQS.
        in_functions: what came of it on Service Bus.
        to_the_second: whether delays are no whole seconds, so that the two fail at different times.
    """
    assert in_functions.steps() == on_lambda.steps()
    pairs = zip(in_functions.delays(), on_lambda.delays(), strict=True)
    assert [whole for exact, whole in pairs if not is_rounded_up(whole, exact)] == []
    assert [queue for queue, _ in in_functions.ends] == [queue for queue, _ in on_lambda.ends]
    for (_, theirs), (_, ours) in zip(on_lambda.ends, in_functions.ends, strict=True):
        differing = {name for name in {*theirs, *ours} if theirs.get(name) != ours.get(name)}
        assert differing <= (TIMES if to_the_second else set())


def is_rounded_up(whole: timedelta, exact: timedelta) -> bool:
    """True if both are the same delay: on SQS in whole seconds, on Service Bus in milliseconds, and nowhere shorter than asked for."""
    return exact - timedelta(milliseconds=1) < whole < exact + timedelta(seconds=1)


@pytest.mark.slow
@settings(max_examples=60)
@given(SCRIPTS, LADDERS, st.booleans())
def test_a_message_climbs_alike_on_both_clouds(
    scripts: list[list[str]],
    ladder: Recoverability,
    counted_in_headers: bool,  # noqa: FBT001  # drawn
) -> None:
    named = {f"m{number}": script for number, script in enumerate(scripts, 1)}
    on_lambda = on_sqs(named, ladder, counted_in_headers=counted_in_headers)
    in_functions = on_service_bus(named, ladder, counted_in_headers=counted_in_headers)
    for message_id in named:
        stories = on_lambda[message_id], in_functions[message_id]
        assert_equal(*stories, to_the_second=ladder.delayed.jitter > 0)


def test_the_page_lists_the_headers_that_may_differ() -> None:
    text = page("internals/proof.md")
    assert [name for name in MAY_DIFFER if f"`{name}`" not in text] == []
