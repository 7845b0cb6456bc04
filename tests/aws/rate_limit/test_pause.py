"""A trigger that is paused while the rate is limited, on local clouds: it always runs again, whoever died when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from aws.rate_limit.conftest import Account
from aws.rate_limit.paused import Endpoint, Shop, limited, probed
from builders import NOW, seconds
from recoverable.aws.pause.circuit_store import DynamoDbCircuit
from recoverable.aws.pause.trigger import PauseTrigger, standing, step_for
from recoverable.rate_limit.state import CLOSED, Open

if TYPE_CHECKING:
    from recoverable.aws.pause.probe import Report
    from recoverable.aws.pause.trigger import Trigger
    from recoverable.rate_limit.state import Circuit

LIMITED = Open(NOW - seconds(60), NOW)
TOO_LONG = Open(NOW - timedelta(hours=24), NOW)
A_CLOCK_AHEAD = Open(NOW + seconds(60), NOW + seconds(61))
NEVER_WRITTEN = Open(datetime(9999, 1, 1, tzinfo=UTC), NOW)


@pytest.fixture
def shop(account: Account) -> Shop:
    """A queue and its function."""
    return Shop(account)


def report(trigger: Trigger) -> Report:
    """What a probe answers that attempted nothing, and left the trigger as it was."""
    return {"trigger": trigger, "probed": 0, "handled": 0, "enabled": False}


def test_the_trigger_is_paused_when_limiting_starts(shop: Shop) -> None:
    limited(shop)

    assert (shop.state, shop.mark) == ("Disabled", "2026-03-14 15:09:26:535897 Z")


def test_the_trigger_runs_again_when_limiting_ends(shop: Shop) -> None:
    limited(shop).attempt()
    after = shop.state
    shop.pause.repair()

    assert (after, shop.mark) == ("Enabled", None)


def test_while_it_is_paused_the_probe_has_one_message_attempted(shop: Shop) -> None:
    limited(shop)
    shop.send("one")
    shop.send("two")
    endpoint = Endpoint(shop)

    assert probed(shop, endpoint, failing=True) == {"trigger": "paused", "probed": 1, "handled": 0, "enabled": False}
    assert (len(endpoint.records), shop.depth, shop.state) == (1, (1, 1), "Disabled")


def test_the_first_success_of_the_probe_lets_it_run_again(shop: Shop) -> None:
    limited(shop)
    shop.send("one")
    endpoint = Endpoint(shop)

    assert probed(shop, endpoint) == {"trigger": "running", "probed": 1, "handled": 1, "enabled": True}
    assert (shop.depth, shop.state, shop.circuit.read().circuit) == ((0, 0), "Enabled", CLOSED)


def test_a_probe_that_finds_the_pause_over_lets_it_run_again(shop: Shop) -> None:
    limited(shop)
    shop.circuit.compare_and_set(shop.circuit.read(), CLOSED)

    assert probed(shop, Endpoint(shop)) == {"trigger": "resumed", "probed": 0, "handled": 0, "enabled": True}


LOGGED = [
    (True, "it was not handled, and the trigger stays paused."),
    (False, "it was handled, and the trigger runs again."),
]


@pytest.mark.parametrize(("failing", "says"), LOGGED)
def test_the_probe_logs_what_came_of_it(
    shop: Shop, caplog: pytest.LogCaptureFixture, says: str, *, failing: bool
) -> None:
    caplog.set_level("INFO", "recoverable.rate_limit")
    limited(shop)
    shop.send("one")
    endpoint = Endpoint(shop)
    probed(shop, endpoint, failing=failing)

    [record] = endpoint.records
    assert caplog.messages[-1] == f"Probed with message '{record['messageId']}': {says}"


def test_the_probe_hands_over_what_lambda_would(shop: Shop) -> None:
    limited(shop)
    shop.send("one")
    endpoint = Endpoint(shop)
    probed(shop, endpoint)

    [record] = endpoint.records
    assert (record["body"], record["eventSourceARN"], record["awsRegion"]) == ("one", shop.arn, "eu-west-1")
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert record["messageAttributes"] == {
        "kind": {"dataType": "String", "stringValue": "web", "stringListValues": [], "binaryListValues": []},
        "raw": {"dataType": "Binary", "binaryValue": "AP8=", "stringListValues": [], "binaryListValues": []},
    }


def test_the_probe_of_an_empty_queue_waits(shop: Shop) -> None:
    limited(shop)

    assert probed(shop, Endpoint(shop)) == report("paused")


def test_the_probe_of_a_trigger_that_runs_does_nothing(shop: Shop) -> None:
    shop.operator(enables=False)  # moto calls an enabled function when something is sent
    shop.send("one")
    shop.operator(enables=True)
    endpoint = Endpoint(shop)

    assert probed(shop, endpoint) == report("running")
    assert endpoint.records == []


def test_an_endpoint_without_a_rate_limit_is_refused(shop: Shop) -> None:
    limited(shop)
    shop.send("one")
    endpoint: Any = Endpoint(shop)
    del endpoint.breaker

    with pytest.raises(TypeError, match="write one with a RateLimit"):
        probed(shop, endpoint)


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
    assert (shop.pause.repair(), shop.mark) == ("running", None)


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
    assert f"The trigger cannot be changed now: An error occurred ({code})" in caplog.text
    assert (shop.pause.repair(), shop.state) == ("paused", "Disabled")


def test_a_function_without_a_mapping_is_told(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    shop = Shop(account)
    account.client("lambda").delete_event_source_mapping(UUID=shop.mapping)
    shop.pause.start()

    assert f"no event source mapping brings {shop.arn} to " in caplog.text


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

    assert (step_for(circuit, mark, state, NOW, longest), standing(mark, state)) == (step, stands)


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
