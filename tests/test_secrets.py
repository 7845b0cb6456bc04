"""A connection string where a name belongs: it is refused where it is written, and shown nowhere; nothing is sent to a cloud."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from azure.endpoints import endpoint
from recoverable import StoreUnavailable
from recoverable.circuits import TableCircuit
from recoverable_operate._cli import main

KEY = "aHVudGVyMg=="
SERVICE_BUS = f"Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=app;SharedAccessKey={KEY}"
STORAGE = f"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={KEY};EndpointSuffix=core.windows.net"
SIGNED = "https://shop.table.core.windows.net/?sv=2024-11-04&sig=aHVudGVyMg"

pasted = pytest.mark.parametrize(
    "text", [SERVICE_BUS, STORAGE, SIGNED, KEY], ids=["Service Bus", "storage", "a signed URL", "a key"]
)

SETTINGS: dict[str, Callable[[str], object]] = {
    "ServiceBusEndpoint(connection)": lambda text: endpoint(connection=text),
    "TableCircuit(connection)": lambda text: TableCircuit("circuits", "orders", connection=text),
}

COMMANDS = {
    "errors list --queue": ("errors", "list", "--queue"),
    "errors list --connection": ("errors", "list", "--queue", "sb://shop/orders-error", "--connection"),
    "errors retry --to": ("errors", "retry", "--queue", "sb://shop/orders-error", "--to"),
    "errors retry --allow": ("errors", "retry", "--queue", "sb://shop/orders-error", "--allow"),
    "check --queue": ("check", "--queue"),
    "errors list PLACE": ("errors", "list"),
    "an argument too many": ("errors", "list", "prod-orders"),
    "timeouts preview": ("timeouts", "preview"),
    "timeouts migrate": ("timeouts", "migrate", "dynamodb:timeouts"),
    "a verb": ("timeouts",),
    "no command": (),
}


@pasted
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_refuses_it_and_does_not_show_it(setting: str, text: str) -> None:
    with pytest.raises(ValueError, match="is a connection string, which is not shown here; write the name") as caught:
        SETTINGS[setting](text)

    assert (str(caught.value).startswith(setting), text in str(caught.value)) == (True, False)


@pasted
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_refuses_it_and_does_not_show_it(
    words: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    try:
        status: object = main([*words, text])
    except SystemExit as end:
        status = end.code

    shown = "".join(capsys.readouterr())
    assert (status, "onnection string" in shown, text in shown) == (2, True, False)


def test_a_setting_that_holds_another_connection_string_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("Storage", SERVICE_BUS)

    with pytest.raises(StoreUnavailable) as caught:
        TableCircuit("circuits", "orders", connection="Storage").read()

    assert str(caught.value) == (
        "its connection cannot be used: Storage holds no connection string of a storage account"
    )
