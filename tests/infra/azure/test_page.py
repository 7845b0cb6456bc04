"""What the deploying page says: its names are those of the template, and its scripts do what it promises."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from docs.pages import blocks, commands, page
from infra.azure.bicep import ROOT, SOURCE, Deployment, parsed
from infra.azure.bicep_names import names_declared, names_used
from infra.azure.host_json import HOST
from infra.azure.namespace import namespace
from infra.azure.test_permissions import NEEDED
from recoverable.headers import TIME_SENT
from recoverable_local.service_bus import SeenMessage, ServiceBusNamespace
from recoverable_operate._cli import main

NAME = "deploy/azure.md"
PAGE = page(NAME)
DEPLOYED = Deployment()
TYPED = [command for block in blocks(NAME, "console") for command in commands(block)]
[_, SEND] = blocks(NAME, "python")
LOOK, SEND_BACK = [command for command in TYPED if command.startswith("recoverable errors")]
BY_IDENTITY = 'ServiceBusClient(os.environ["NAMESPACE"], AzureCliCredential())'
BY_KEY = "ServiceBusClient.from_connection_string({!r})"


@pytest.fixture
def bus() -> Iterator[ServiceBusNamespace]:
    """Yield a namespace with the queues of the template."""
    with namespace(DEPLOYED) as running:
        yield running


def run(script: str, bus: ServiceBusNamespace) -> None:
    """Run a script of the page, as it stands but for the way it connects."""
    assert BY_IDENTITY in script
    exec(script.replace(BY_IDENTITY, BY_KEY.format(bus.connection_string)), {})


def given_up(bus: ServiceBusNamespace) -> None:
    """Leave two messages in the error queue: one that our code moved there, and one that Service Bus did."""
    with ServiceBusClient.from_connection_string(bus.connection_string) as client:
        ours: dict[str | bytes, Any] = {
            "NServiceBus.FailedQ": "orders",
            "NServiceBus.MessageId": "first",
            "Recoverable.DueAt": "x",
        }
        retried: dict[str | bytes, Any] = {
            "NServiceBus.Retries": "3",
            "NServiceBus.Retries.Timestamp": "x",
            "NServiceBus.FLRetries": "2",
            "tenant": {"TYPE": "LONG", "VALUE": 2**40},
        }
        client.get_queue_sender("orders-error").send_messages(ServiceBusMessage("ours", application_properties=ours))
        client.get_queue_sender("orders").send_messages(
            ServiceBusMessage("theirs", message_id="second", application_properties=retried)
        )
        receiver = client.get_queue_receiver("orders")
        receiver.dead_letter_message(next(receiver), reason="killed")


def typed(command: str, bus: ServiceBusNamespace, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    """Type a command of the page, with a connection string instead of an identity; gives its exit status."""
    monkeypatch.setenv("SERVICE_BUS_CONNECTION", bus.connection_string)
    words = shlex.split(command.replace("$NAMESPACE", f"127.0.0.1:{bus.port}"))
    return main([*words[1:], *more])


def seen(message: SeenMessage) -> tuple[object, ...]:
    """Return a message's body and properties, and whether its id is one that it had before."""
    properties = {name: value for name, value in message.application_properties.items() if name != TIME_SENT}
    properties["Recoverable.Origin"] = str(properties["Recoverable.Origin"]).partition("@")[0]  # the time follows
    return message.body, properties, message.message_id in {"first", "second"}


def test_the_script_sends_two_orders(bus: ServiceBusNamespace) -> None:
    run(SEND, bus)

    assert [message.body for message in bus.queue("orders").messages()] == [
        b'{"id": "1001", "card": "good"}',
        b'{"id": "1002", "card": "declined"}',
    ]


@pytest.mark.slow
def test_messages_in_the_error_queue_are_shown_and_redriven_to_start_anew(
    bus: ServiceBusNamespace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given_up(bus)

    looked = typed(LOOK, bus, monkeypatch)
    said = capsys.readouterr().out
    sent = typed(SEND_BACK, bus, monkeypatch, "--yes", "--journal", str(tmp_path / "journal"))

    assert ("NServiceBus.FailedQ: orders" in said, "(killed)" in said, looked, sent) == (True, True, 0, 0)
    assert bus.queue("orders-error").messages() == []
    assert [seen(message) for message in bus.queue("orders").messages()] == [
        (b"ours", {"NServiceBus.MessageId": "first", "Recoverable.Origin": "1", "Recoverable.Redrives": "1"}, False),
        (
            b"theirs",
            {
                "NServiceBus.MessageId": "second",
                "Recoverable.Origin": "2",
                "Recoverable.Redrives": "1",
                "tenant": 2**40,
            },
            False,
        ),
    ]


def test_the_module_it_shows_is_taken_by_the_template() -> None:
    """The parser takes it behind main.bicep, and its parameters are those of queue.bicep."""
    [_, shown] = blocks(NAME, "bicep")
    [used] = parsed(SOURCE + shown)["modules"].values()
    module = parsed((ROOT / "infra" / "azure" / "queue.bicep").read_text())["parameters"]
    required = {name for name, found in module.items() if found["default"] is None}

    assert (used["detail"]["path"], required <= set(used["config"]["params"]) <= set(module)) == ("queue.bicep", True)
    assert names_used(shown) - names_declared(SOURCE + shown) == set()


def test_the_outputs_it_asks_for_are_outputs() -> None:
    asked = set(re.findall(r"properties\.outputs\.(\w+)\.value", PAGE))

    assert asked == set(DEPLOYED.outputs)


def test_the_parameters_it_gives_are_parameters() -> None:
    given = {name for line in re.findall(r"--parameters ([^`\n]+)", PAGE) for name in re.findall(r"(\w+)=", line)}

    assert given - {"infra/azure/main.parameters.json"} <= set(DEPLOYED.parameters)


def test_the_namespace_bears_the_apps_name() -> None:
    [asked] = [command for command in TYPED if "--namespace-name" in command]

    assert '--namespace-name "$APP" --name orders ' in asked
    assert (
        DEPLOYED.outputs["functionAppName"]
        == DEPLOYED.config("serviceBus")["name"]
        == DEPLOYED.config("insights")["name"]
    )


def test_who_tries_it_may_send_orders_and_receive_errors() -> None:
    given = re.findall(r'--role "([^"]+)" --scope "\$(\w+)"', PAGE)

    assert given == [("Azure Service Bus Data Sender", "ORDERS"), ("Azure Service Bus Data Receiver", "ERRORS")]
    assert {role for role, _ in given} < {role for role, _ in NEEDED}


def test_it_names_each_setting_that_must_be_right() -> None:
    rows = re.findall(r"^\| `host\.json` \| (.+?) \|", page("deploy/azure-on-one-screen.md"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}

    assert named - {"PYTHON_THREADPOOL_THREAD_COUNT"} == {
        "functionTimeout", *HOST["extensions"]["serviceBus"].keys() - {"autoCompleteMessages"},
    }  # fmt: skip


def test_the_files_that_commands_take_are_there() -> None:
    taken = set(re.findall(r"(?:--template-file|cp) (\S+)", PAGE))

    assert taken == {"infra/azure/main.bicep", "local.settings.example.json"}
    assert all((ROOT / path).is_file() for path in taken)
