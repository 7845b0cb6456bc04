"""What is published works where it arrives: copied elsewhere, built as the remote build does, loaded and called by Microsoft's worker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.azure.bicep import Deployment
from infra.azure.namespace import namespace
from infra.azure.published import PACKAGES, build, publish
from infra.commands import bare_python
from recoverable.local.azure import Raised, Returned, Worker
from recoverable.local.service_bus import ServiceBusNamespace

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("published app")]

DEPLOYED = Deployment()
BINDING = {
    "name": "message", "type": "serviceBusTrigger", "direction": "IN", "dataType": "BINARY", "cardinality": "ONE",
    "queueName": "orders", "connection": "ServiceBus", "autoCompleteMessages": True, "isSessionsEnabled": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published tree, built."""
    folder = tmp_path_factory.mktemp("published") / "wwwroot"
    publish(folder)
    build(folder, folder.with_name("wheels"))
    return folder


@pytest.fixture(scope="module")
def bus() -> Iterator[ServiceBusNamespace]:
    """A namespace with the queues of the template."""
    with namespace(DEPLOYED) as running:
        yield running


@pytest.fixture(scope="module")
def worker(app: Path, bus: ServiceBusNamespace) -> Iterator[Worker]:
    """Microsoft's worker with the app in it, and the template's settings but for the connection."""
    others = DEPLOYED.properties("settings").items()
    settings = {name: value for name, value in others if not name.startswith("ServiceBus__")}
    with Worker(app, settings={**settings, "ServiceBus": bus.connection_string}) as running:
        yield running


def called(worker: Worker, card: str, **told: Any) -> Returned | Raised:
    """One order, as the host hands it over."""
    metadata = {
        "MessageId": f"order-{card}",
        "SequenceNumber": 1,
        "DeliveryCount": 1,
        "UserProperties": {},
        **told,
    }
    outcome = worker.invoke("place_order", json.dumps({"id": 1, "card": card}).encode(), metadata)
    assert isinstance(outcome, Returned | Raised), outcome
    return outcome


def test_nothing_else_is_needed_to_load_it(app: Path) -> None:
    script = Path(__file__).with_name("index_published.py")

    said = json.loads(bare_python(str(script), str(app), str(app / PACKAGES)))

    assert said == {
        "function": [BINDING],
        "the package": f"/{PACKAGES}/recoverable/__init__.py",
        "the SDK is at hand": True,
        "the SDK is imported": False,
    }


def test_the_worker_finds_the_function(worker: Worker) -> None:
    [function] = worker.functions

    assert (function.name, dict(function.trigger)) == ("place_order", BINDING)


def test_a_good_order_is_placed_and_leaves_nothing_behind(worker: Worker, bus: ServiceBusNamespace) -> None:
    assert called(worker, "good") == Returned()
    assert bus.queue("orders").messages() == []


def test_an_immediate_retry_is_the_handlers_own_exception(worker: Worker) -> None:
    outcome = called(worker, "flaky-bank")

    assert isinstance(outcome, Raised)
    assert "BankUnreachable: no answer at attempt 1" in outcome.message


def test_the_package_that_runs_is_the_one_that_was_installed(worker: Worker, app: Path) -> None:
    outcome = called(worker, "flaky-bank")

    assert isinstance(outcome, Raised)
    assert f'"{app / PACKAGES}/recoverable/azure/' in outcome.stack_trace


def test_a_declined_card_goes_to_the_error_queue_with_the_reason(
    worker: Worker, bus: ServiceBusNamespace
) -> None:
    outcome = called(worker, "declined")

    [order] = bus.queue("orders-error").messages()
    headers = {
        name: order.application_properties[f"NServiceBus.{name}"]
        for name in ("FailedQ", "ExceptionInfo.ExceptionType")
    }
    assert (outcome, order.body, headers) == (
        Returned(),
        b'{"id": 1, "card": "declined"}',
        {"FailedQ": "orders", "ExceptionInfo.ExceptionType": "shop.CardDeclined"},
    )


def test_a_delayed_retry_is_a_copy_scheduled_on_the_orders_queue(
    worker: Worker, bus: ServiceBusNamespace
) -> None:
    outcome = called(worker, "no-bank", DeliveryCount=6, SequenceNumber=2)

    [copy] = bus.queue("orders").messages()
    assert (outcome, copy.state, copy.application_properties["NServiceBus.Retries"]) == (
        Returned(),
        "scheduled",
        "1",
    )
