"""The client connects as the host does: by what host.json says of transport and proxy."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from azure.endpoints import ended
from azure.recording import RecordingClient
from azure.triggers import trigger_message
from builders import QUEUE, Boom, recoverability
from recoverable import Message
from recoverable._limits import NO_DELAY
from recoverable._service_bus import clients
from recoverable._service_bus.clients import client_for
from recoverable.azure import CopyNotSent, ServiceBusEndpoint

pytest.importorskip("websocket")

SHOP = "shop.servicebus.windows.net"
KEY = f"Endpoint=sb://{SHOP}/;SharedAccessKeyName=all;SharedAccessKey=c2VjcmV0"
WEB_SOCKETS = {"transportType": "amqpWebSockets"}
SETTING = "AzureFunctionsJobHost__extensions__serviceBus__transportType"

TRANSPORTS: dict[str, tuple[dict[str, Any], dict[str, str], tuple[str, int]]] = {
    "by default": ({}, {}, (SHOP, 5671)),
    "TCP": ({"transportType": "amqpTcp"}, {}, (SHOP, 5671)),
    "WebSockets": (WEB_SOCKETS, {}, (SHOP, 443)),
    "in other letters": ({"TransportType": "AmqpWebSockets"}, {}, (SHOP, 443)),
    "by an app setting": ({}, {SETTING: "amqpWebSockets"}, (SHOP, 443)),
    "a proxy": ({**WEB_SOCKETS, "webProxy": "http://proxy.example:8080"}, {}, ("proxy.example", 8080)),
    "a proxy at its default port": ({**WEB_SOCKETS, "webProxy": "https://proxy.example"}, {}, ("proxy.example", 443)),
    "a proxy without a scheme": ({**WEB_SOCKETS, "webProxy": "proxy.example"}, {}, ("proxy.example", 80)),
    "no proxy": ({**WEB_SOCKETS, "webProxy": ""}, {}, (SHOP, 443)),
}


@pytest.fixture(autouse=True)
def own_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the process make its client anew, by the host.json of this test."""
    monkeypatch.setenv("AzureWebJobsScriptRoot", str(tmp_path))
    monkeypatch.setenv("ServiceBus", KEY)
    client_for.cache_clear()
    yield
    client_for.cache_clear()


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return the addresses that are looked up; none is found."""
    found: list[tuple[str, int]] = []

    def look_up(host: str, port: int, *_: Any, **__: Any) -> Any:
        found.append((host, port))
        raise socket.gaierror(socket.EAI_NONAME, "not in a test")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return found


def write_host(folder: Path, **options: Any) -> None:
    (folder / "host.json").write_text(json.dumps({"version": "2.0", "extensions": {"serviceBus": options}}))


def failed(**parts: Any) -> BaseException | None:
    """Let a message fail, whose copy is then sent; return why it was abandoned."""

    def fail(_: Message) -> None:
        raise Boom("no")

    failing = ServiceBusEndpoint(
        fail, recoverability(0, 1), queue=QUEUE, connection="ServiceBus", resend_for=NO_DELAY, **parts
    )
    return ended(failing, trigger_message())


@pytest.mark.parametrize(("options", "settings", "address"), TRANSPORTS.values(), ids=TRANSPORTS)
def test_the_client_connects_as_the_host_does(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dialled: list[tuple[str, int]],
    options: dict[str, Any],
    settings: dict[str, str],
    address: tuple[str, int],
) -> None:
    write_host(tmp_path, **options)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    error = failed()

    assert (type(error), set(dialled)) == (CopyNotSent, {address})


def test_a_client_that_is_given_connects_as_it_was_made(tmp_path: Path, dialled: list[tuple[str, int]]) -> None:
    write_host(tmp_path, **WEB_SOCKETS)
    client = RecordingClient()

    assert (failed(client=client.as_client()), len(client.sent), dialled) == (None, 1, [])


def test_the_proxy_is_asked_for_the_namespace(tmp_path: Path) -> None:
    asked: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def answer() -> None:
            connection, _ = proxy.accept()
            with connection:
                asked.append(connection.recv(4096).decode().partition("\r\n")[0])

        answering = Thread(target=answer, daemon=True)
        answering.start()
        write_host(tmp_path, **WEB_SOCKETS, webProxy=f"http://127.0.0.1:{proxy.getsockname()[1]}")

        error = failed()
        answering.join(60)

    assert (type(error), asked) == (CopyNotSent, [f"CONNECT {SHOP}:443 HTTP/1.1"])


def test_without_the_library_for_websockets_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_host(tmp_path, **WEB_SOCKETS)
    monkeypatch.setattr(clients, "find_spec", lambda _: None)

    assert str(failed()) == "No module named 'websocket'; write pip install 'recoverable[azure]'"
