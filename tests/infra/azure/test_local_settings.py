"""local.settings.example.json: the example on a machine of one's own, on the namespace that `recoverable local service-bus` serves."""

from __future__ import annotations

import argparse
import json

from infra.azure.bicep import ROOT, Deployment
from infra.azure.namespace import queues
from recoverable._service_bus.app_settings import ConnectionString, connection
from recoverable_local.service_bus import ServiceBusNamespace
from recoverable_local.service_bus.command import configure

VALUES: dict[str, str] = json.loads((ROOT / "local.settings.example.json").read_text())["Values"]


def defaults() -> argparse.Namespace:
    """Return what the command does when nothing else is asked for."""
    parser = argparse.ArgumentParser()
    configure(parser)
    return parser.parse_args([])


def test_it_connects_to_what_the_command_serves() -> None:
    served = ServiceBusNamespace(queues(Deployment()), port=defaults().port).connection_string
    found = connection("ServiceBus", VALUES)

    assert isinstance(found, ConnectionString)
    assert found.text == ConnectionString(served).text


def test_it_gives_up_to_the_commands_error_queue() -> None:
    assert VALUES["RECOVERABLE_ERROR_QUEUE"] == defaults().error_queue


def test_it_is_a_python_app_with_storage_on_this_machine() -> None:
    assert {name: VALUES[name] for name in ("FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsStorage")} == {
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "AzureWebJobsStorage": "UseDevelopmentStorage=true",
    }
