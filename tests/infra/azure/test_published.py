"""What is published works where it arrives: copied elsewhere, built as the remote build does, loaded and called by Microsoft's worker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from deadlines import WHOLE_RUN
from infra.azure.bicep import Deployment
from infra.azure.namespace import namespace
from infra.azure.published import PACKAGES, build, publish
from infra.commands import bare_python
from recoverable_local.functions_host import LocalFunctions, Raised, Worker
from recoverable_local.service_bus import SeenMessage

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("published app")]

DEPLOYED = Deployment()
BINDING = {
    "name": "message", "type": "serviceBusTrigger", "direction": "IN", "dataType": "BINARY", "cardinality": "ONE",
    "queueName": "orders", "connection": "ServiceBus", "autoCompleteMessages": True, "isSessionsEnabled": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the published tree, built."""
    folder = tmp_path_factory.mktemp("published") / "wwwroot"
    publish(folder)
    build(folder, folder.with_name("wheels"))
    return folder


def app_settings(**changed: str) -> dict[str, str]:
    """Return the template's settings without its connection."""
    settings: dict[str, str] = DEPLOYED.properties("settings")
    return {name: value for name, value in settings.items() if not name.startswith("ServiceBus__")} | changed


@pytest.fixture(scope="module")
def worker(app: Path) -> Iterator[Worker]:
    """Yield Microsoft's worker with the app in it."""
    with Worker(app, settings=app_settings()) as running:
        yield running


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


def test_the_package_that_runs_is_the_one_that_was_installed(worker: Worker) -> None:
    metadata = {"MessageId": "m-1", "SequenceNumber": 1, "DeliveryCount": 1, "UserProperties": {}}

    outcome = worker.invoke("place_order", b'{"id": 1, "card": "flaky-bank"}', metadata)

    assert isinstance(outcome, Raised)
    assert f'"{worker.folder / PACKAGES}/recoverable/azure/' in outcome.stack_trace


def test_orders_are_placed_tried_again_and_given_up_on_the_queues_of_the_template(app: Path) -> None:
    settings = app_settings(RECOVERABLE_TIME_INCREASE="1s")
    cards = ("good", "declined", "flaky-bank", "slow-bank")
    with (
        namespace(DEPLOYED) as bus,
        LocalFunctions.from_folder(app, connection_string=bus.connection_string, app_settings=settings) as host,
    ):
        host.send("orders", *({"id": card, "card": card} for card in cards))
        host.run_until(lambda: len(placed(host)) == 3 and not bus.queue("orders").messages(), deadline=WHOLE_RUN)
        given_up = [reason(order) for order in bus.queue("orders-error").messages()]

    assert placed(host) == {"good", "flaky-bank", "slow-bank"}
    assert given_up == [("declined", "orders", "shop.CardDeclined")]


def placed(host: LocalFunctions) -> set[str]:
    """Return the orders that are placed, as the log says."""
    return {found for line in host.function_log for found in re.findall(r"order (\S+) is placed", line.line)}


def reason(order: SeenMessage) -> tuple[object, ...]:
    """Return the card of an order in the error queue, where it failed, and why."""
    names = ("NServiceBus.FailedQ", "NServiceBus.ExceptionInfo.ExceptionType")
    return json.loads(order.body)["card"], *(order.application_properties[name] for name in names)
