"""Test the probe of a paused queue, on local clouds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from circuits.aws.conftest import Account
from circuits.aws.paused import Endpoint, Shop, limited, probed
from recoverable._rate_limit.state import CLOSED

if TYPE_CHECKING:
    from recoverable.circuits._pause import Trigger
    from recoverable.circuits._probe import Report


@pytest.fixture
def shop(account: Account) -> Shop:
    """Return a queue and its function."""
    return Shop(account)


def report(trigger: Trigger) -> Report:
    """Return the report of a probe that attempted nothing, and left the trigger as it was."""
    return {"trigger": trigger, "probed": 0, "handled": 0, "enabled": False}


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
