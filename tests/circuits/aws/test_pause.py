"""Test a trigger that is paused while the rate is limited, on local clouds: it always runs again, whoever crashed when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from builders import NOW, seconds
from circuits.aws.conftest import Account
from circuits.aws.paused import Endpoint, Shop, limited, probed
from recoverable._rate_limit.state import CLOSED, Open
from recoverable.circuits import DynamoDbCircuit, PauseTrigger
from recoverable.circuits._pause import next_step, trigger_state
from recoverable.headers import write_date

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Circuit
    from recoverable.circuits._pause import Trigger
    from recoverable.circuits._probe import Report


LIMITED = Open(NOW - seconds(60), NOW)


TOO_LONG = Open(NOW - timedelta(hours=24), NOW)


A_CLOCK_AHEAD = Open(NOW + seconds(60), NOW + seconds(61))


NEVER_WRITTEN = Open(datetime(9999, 1, 1, tzinfo=UTC), NOW)


def set_before(**ago: float) -> str:
    """Return a mark that was set so long ago."""
    return write_date(NOW - timedelta(**ago))


@pytest.fixture
def shop(account: Account) -> Shop:
    """Return a queue and its function."""
    return Shop(account)


def report(trigger: Trigger) -> Report:
    """Return the report of a probe that attempted nothing, and left the trigger as it was."""
    return {"trigger": trigger, "probed": 0, "handled": 0, "enabled": False}


def test_the_trigger_is_paused_when_limiting_starts(shop: Shop) -> None:
    limited(shop)

    assert (shop.state, shop.mark) == ("Disabled", "2026-03-14 15:09:26:535897 Z")


def test_the_trigger_runs_again_when_limiting_ends(shop: Shop) -> None:
    limited(shop).attempt()

    assert (shop.state, shop.mark) == ("Enabled", "2026-03-14 15:09:26:535897 Z")


def test_the_mark_is_forgotten_when_nobody_can_still_pause_the_trigger_under_it(shop: Shop) -> None:
    limited(shop).attempt()
    before = (shop.pause.repair(), shop.mark)
    shop.clock.advance(timedelta(minutes=15))

    assert before == ("running", "2026-03-14 15:09:26:535897 Z")
    assert (shop.pause.repair(), shop.mark) == ("running", None)


def test_whoever_disables_late_is_repaired(shop: Shop) -> None:
    """One success ended the circuit while the pause was on its way, and the trigger was seen to run before that arrived."""
    limited(shop).attempt()
    assert shop.pause.repair() == "running"
    shop.operator(enables=False)  # as the late call does

    assert (shop.pause.repair(), shop.state) == ("resumed", "Enabled")


def test_a_death_before_the_pause_is_repaired(shop: Shop) -> None:
    limited(shop)
    shop.operator(enables=True)
    shop.store.remove_mark(shop.mark or "")

    assert (shop.pause.repair(), shop.state) == ("paused", "Disabled")


def test_a_death_between_the_mark_and_the_mapping_is_repaired(shop: Shop) -> None:
    limited(shop)
    shop.operator(enables=True)

    assert (shop.pause.repair(), shop.state) == ("paused", "Disabled")


def test_a_death_before_the_end_of_the_pause_is_repaired(shop: Shop) -> None:
    limited(shop)
    shop.circuit.compare_and_set(shop.circuit.read(), CLOSED)

    assert (shop.pause.repair(), shop.state) == ("resumed", "Enabled")


def test_what_an_operator_disabled_stays_disabled(shop: Shop) -> None:
    shop.operator(enables=False)

    assert (shop.pause.repair(), shop.state) == ("left alone", "Disabled")


def test_what_an_operator_disabled_stays_so_though_limiting_starts_and_ends(shop: Shop) -> None:
    shop.operator(enables=False)
    shop.send("one")
    instance = limited(shop)
    endpoint = Endpoint(shop)
    answer = probed(shop, endpoint)
    instance.attempt()

    assert (answer, endpoint.records) == (report("left alone"), [])
    assert (shop.pause.repair(), shop.state) == ("left alone", "Disabled")


def test_a_mark_that_was_renewed_in_between_stays(shop: Shop) -> None:
    shop.store.set_mark(NOW)
    old = shop.mark
    shop.store.set_mark(NOW + seconds(1))
    shop.store.remove_mark(old or "")

    assert shop.mark == "2026-03-14 15:09:27:535897 Z"


def test_a_pause_ends_after_a_day_though_limiting_does_not(shop: Shop) -> None:
    limited(shop)
    shop.clock.advance(timedelta(hours=24))

    assert (shop.pause.repair(), shop.state) == ("resumed", "Enabled")


BUSY = ["ResourceConflictException", "ResourceInUseException", "TooManyRequestsException", "AccessDenied"]


@pytest.mark.parametrize("code", BUSY)
def test_a_mapping_that_cannot_be_changed_now_is_left_to_the_probe(
    shop: Shop, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    aws = shop.account.client("lambda")

    def refuse(**_: object) -> None:
        raise ClientError({"Error": {"Code": code, "Message": "later"}}, "UpdateEventSourceMapping")

    aws.meta.events.register("before-call.lambda.UpdateEventSourceMapping", refuse)
    instance = limited(shop)
    aws.meta.events.unregister("before-call.lambda.UpdateEventSourceMapping", refuse)

    assert (len(instance.notices), shop.state) == (1, "Enabled")
    assert f"The trigger cannot be changed now: Lambda: An error occurred ({code})" in caplog.text
    assert (shop.pause.repair(), shop.state) == ("paused", "Disabled")


def test_a_function_without_a_mapping_is_told(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    shop = Shop(account)
    account.client("lambda").delete_event_source_mapping(UUID=shop.mapping)
    shop.pause.start()

    assert f" has no event source mapping for {shop.arn}" in caplog.text


def test_the_mapping_of_an_alias_is_found_by_the_function_s_name(account: Account) -> None:
    shop = Shop(account)
    account.client("lambda").delete_event_source_mapping(UUID=shop.mapping)
    shop.mapping = shop.alias("live")

    limited(shop)

    assert shop.state == "Disabled"


def test_of_several_mappings_none_is_paused_and_the_log_says_what_to_write(
    account: Account, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop(account)
    shop.alias("live")
    name = shop.arn.rpartition(":")[2]

    limited(shop)

    assert shop.state == "Enabled"
    assert f"{name} has 2 event source mappings ({name}, {name}:" in caplog.text  # moto names the alias's version
    assert "write PauseTrigger(function=...) with the alias of the one to pause" in caplog.text


STEPS: list[tuple[Circuit, str | None, str, str, str]] = [
    # circuit, mark, state: step, and how it stands when that is none
    (LIMITED, None, "Enabled", "pause", "running"),
    (LIMITED, "m", "Enabled", "pause", "running"),
    (LIMITED, "m", "Disabled", "none", "paused"),
    (LIMITED, "m", "Disabling", "none", "paused"),
    (LIMITED, "m", "Enabling", "none", "changing"),
    (LIMITED, None, "Disabled", "none", "left alone"),
    (LIMITED, None, "Disabling", "none", "left alone"),
    (LIMITED, None, "Creating", "none", "changing"),
    (CLOSED, None, "Enabled", "none", "running"),
    (CLOSED, None, "Disabled", "none", "left alone"),
    (CLOSED, "m", "Enabled", "forget", "running"),
    (CLOSED, set_before(minutes=15, seconds=1), "Enabled", "none", "running"),
    (CLOSED, set_before(minutes=15, seconds=2), "Enabled", "forget", "running"),
    (CLOSED, set_before(minutes=-15), "Enabled", "none", "running"),
    (CLOSED, set_before(minutes=-16), "Enabled", "forget", "running"),
    (CLOSED, "m", "Disabled", "resume", "paused"),
    (CLOSED, "m", "Disabling", "none", "paused"),
    (CLOSED, "m", "Enabling", "none", "changing"),
    (CLOSED, "m", "Updating", "none", "changing"),
    (CLOSED, "m", "Deleting", "none", "changing"),
    (TOO_LONG, "m", "Disabled", "resume", "paused"),
    (TOO_LONG, None, "Enabled", "none", "running"),
    (A_CLOCK_AHEAD, None, "Enabled", "pause", "running"),
    (NEVER_WRITTEN, "m", "Disabled", "resume", "paused"),
    (NEVER_WRITTEN, None, "Enabled", "none", "running"),
]


@pytest.mark.parametrize(("circuit", "mark", "state", "step", "stands"), STEPS)
def test_each_state_of_the_mapping_has_its_step(
    circuit: Circuit, mark: str | None, state: str, step: str, stands: str
) -> None:
    longest = timedelta(hours=24)

    assert (next_step(circuit, mark, state, NOW, longest), trigger_state(mark, state)) == (step, stands)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"queue_arn": "orders"}, ValueError, "is no ARN of an SQS queue"),
    ({"queue_arn": None}, TypeError, "PauseTrigger\\(queue_arn\\) is None"),
    ({"function": ""}, ValueError, "PauseTrigger\\(function\\) is blank"),
    ({"longest": 3600}, TypeError, "PauseTrigger\\(longest\\) is 3600; write a timedelta"),
]


@pytest.mark.parametrize(("settings", "error", "says"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_what_cannot_work_is_refused(settings: dict[str, Any], error: type[Exception], says: str) -> None:
    good = {"queue_arn": "arn:aws:sqs:eu-west-1:123456789012:orders", "function": "orders"}
    with pytest.raises(error, match=says):
        PauseTrigger(DynamoDbCircuit("circuits", "orders"), **{**good, **settings})
