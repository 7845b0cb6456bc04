"""The app settings of main.bicep, held against what the package and the example read; and what the template lets its user choose."""

from __future__ import annotations

import json
import tomllib
from datetime import timedelta
from itertools import product
from runpy import run_path
from typing import Any

import azure.functions as func
import pytest

from infra.azure.bicep import ROOT, Deployment
from infra.azure.host_json import SERVICE_BUS
from recoverable import Delayed, Immediate
from recoverable._service_bus.app_settings import Identity, connection
from recoverable.azure import ServiceBusEndpoint

LADDER = ("immediateRetries", "delayedRetries", "timeIncreaseSeconds")
DEPLOYED = Deployment()
SETTINGS: dict[str, str] = DEPLOYED.properties("settings")
CORNERS = [dict(zip(LADDER, values, strict=True)) for values in product(*map(DEPLOYED.bounds, LADDER))]


def example(settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> ServiceBusEndpoint[Any]:
    """Return the example's endpoint under these app settings."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    for name, setting in settings.items():
        monkeypatch.setenv(name, setting)
    found: ServiceBusEndpoint[Any] = run_path(str(ROOT / "functions" / "azure" / "orders_endpoint.py"))["orders"]
    return found


def test_the_connection_is_by_the_functions_identity() -> None:
    found = connection("ServiceBus", SETTINGS)

    assert isinstance(found, Identity)
    assert (found.namespace, dict(found.settings)) == (
        DEPLOYED.outputs["serviceBusNamespace"],
        {
            "fullyqualifiednamespace": DEPLOYED.outputs["serviceBusNamespace"],
            "credential": "managedidentity",
            "clientid": "<identity.properties.clientId>",
        },
    )


def test_the_examples_trigger_names_that_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    app = func.FunctionApp()
    app.register_functions(example(SETTINGS, monkeypatch).blueprint())

    [function] = app.get_functions()
    [binding] = json.loads(function.get_function_json())["bindings"]

    assert (binding["connection"], binding["queueName"]) == ("ServiceBus", "orders")


def test_the_example_reads_the_queue_and_gives_up_to_the_error_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    found = example(SETTINGS, monkeypatch)

    assert (found.queue, found.recoverability.failed.error_queue) == (
        DEPLOYED.config("ordersQueue")["name"],
        DEPLOYED.config("errorQueue")["name"],
    )


@pytest.mark.parametrize("parameters", CORNERS, ids=str)
def test_the_example_starts_with_every_ladder_the_parameters_allow(
    parameters: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = example(Deployment(parameters).properties("settings"), monkeypatch).recoverability
    immediate, delayed, seconds = (parameters[name] for name in LADDER)

    assert (found.immediate, found.delayed) == (Immediate(immediate), Delayed(delayed, timedelta(seconds=seconds)))


@pytest.mark.parametrize("settings", [SETTINGS, {}], ids=["deployed", "without settings"])
def test_the_ladder_is_the_packages_own_if_nobody_asks_for_another(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = example(settings, monkeypatch).recoverability

    assert (found.immediate, found.delayed) == (Immediate(), Delayed())


def test_each_message_that_the_host_lets_run_has_a_thread() -> None:
    assert int(SETTINGS["PYTHON_THREADPOOL_THREAD_COUNT"]) >= SERVICE_BUS["maxConcurrentCalls"]


def test_the_hosts_storage_and_the_log_are_reached_by_the_functions_identity() -> None:
    client = "<identity.properties.clientId>"

    assert {name: value for name, value in SETTINGS.items() if name.startswith(("Azure", "APPLICATION"))} == {
        "AzureWebJobsStorage__accountName": DEPLOYED.config("storage")["name"],
        "AzureWebJobsStorage__credential": "managedidentity",
        "AzureWebJobsStorage__clientId": client,
        "APPLICATIONINSIGHTS_CONNECTION_STRING": "<insights.properties.ConnectionString>",
        "APPLICATIONINSIGHTS_AUTHENTICATION_STRING": f"ClientId={client};Authorization=AAD",
    }


def test_each_setting_is_a_text() -> None:
    assert {type(value) for value in SETTINGS.values()} == {str}


def test_the_function_runs_on_flex_consumption_from_the_container_that_is_made() -> None:
    config = DEPLOYED.properties("functionApp")["functionAppConfig"]

    assert DEPLOYED.config("plan")["sku"] == {"name": "FC1", "tier": "FlexConsumption"}
    assert config["deployment"]["storage"] == {
        "type": "blobContainer",
        "value": "<storage.properties.primaryEndpoints.blob>packages",
        "authentication": {"type": "UserAssignedIdentity", "userAssignedIdentityResourceId": "<identity.id>"},
    }


def test_the_pythons_on_offer_are_ones_that_the_package_supports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = {line.rsplit(" ", 1)[1] for line in project["classifiers"] if "Python :: 3." in line}

    assert set(DEPLOYED.bounds("pythonVersion")) <= supported
