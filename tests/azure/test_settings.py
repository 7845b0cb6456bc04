"""App settings are read as the Functions host reads them."""

from __future__ import annotations

import sys
from datetime import timedelta

import pytest
from azure.identity import ClientSecretCredential, DefaultAzureCredential, ManagedIdentityCredential

from recoverable import Failed, Recoverability
from recoverable._service_bus.app_settings import ConnectionString, Identity, connection, resolved
from recoverable._service_bus.clients import credential_for
from recoverable._service_bus.senders import broker
from recoverable.azure._settings import ServiceBusSettings, checked_lock, queue_name, with_error_queue

KEY = "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=all;SharedAccessKey=c2VjcmV0"
SHOP = "shop.servicebus.windows.net"

CONNECTIONS: dict[str, tuple[dict[str, str], ConnectionString | Identity]] = {
    "a connection string": ({"Bus": KEY}, ConnectionString(KEY)),
    "with a queue of its own": ({"Bus": f"{KEY};EntityPath=orders"}, ConnectionString(KEY)),
    "with the host's prefix": ({"AzureWebJobsBus": KEY}, ConnectionString(KEY)),
    "the host's prefix wins": ({"Bus": "Endpoint=sb://other", "AzureWebJobsBus": KEY}, ConnectionString(KEY)),
    "among the connection strings": ({"ConnectionStrings__Bus": KEY}, ConnectionString(KEY)),
    "as App Service writes them": ({"SERVICEBUSCONNSTR_Bus": KEY}, ConnectionString(KEY)),
    "in other letters": ({"BUS": KEY}, ConnectionString(KEY)),
    "an identity": ({"Bus__fullyQualifiedNamespace": SHOP}, Identity(SHOP, {"fullyqualifiednamespace": SHOP})),
    "a managed identity": (
        {"Bus__fullyQualifiedNamespace": SHOP, "Bus__credential": "managedidentity", "Bus__clientId": "c-1"},
        Identity(SHOP, {"fullyqualifiednamespace": SHOP, "credential": "managedidentity", "clientid": "c-1"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "expected"), CONNECTIONS.values(), ids=CONNECTIONS)
def test_a_connection_is_found(settings: dict[str, str], expected: ConnectionString | Identity) -> None:
    assert connection("Bus", {"Other": "x", **settings}) == expected


@pytest.mark.parametrize("settings", [{}, {"Bus": ""}, {"Bus__clientId": "c-1"}], ids=["none", "blank", "part"])
def test_what_is_no_connection_is_refused_and_says_what_to_add(settings: dict[str, str]) -> None:
    text = "^the connection 'Bus' is not among the app settings; add Bus with a connection string, or Bus__fully"
    with pytest.raises(ValueError, match=text):
        connection("Bus", settings)


def test_a_setting_may_name_the_connection() -> None:
    assert connection("%Which%", {"Which": "Bus", "Bus": KEY}) == ConnectionString(KEY)


CREDENTIALS: dict[str, tuple[dict[str, str], type[object]]] = {
    "nothing": ({}, DefaultAzureCredential),
    "a client": ({"clientid": "c-1"}, DefaultAzureCredential),
    "a managed identity": ({"credential": "managedidentity"}, ManagedIdentityCredential),
    "one of the user's": ({"credential": "ManagedIdentity", "clientid": "c-1"}, ManagedIdentityCredential),
    "one by resource": (
        {"credential": "managedidentity", "managedidentityresourceid": "/subscriptions/1"},
        ManagedIdentityCredential,
    ),
    "a secret": ({"tenantid": "t-1", "clientid": "c-1", "clientsecret": "s"}, ClientSecretCredential),
    "a secret of nobody": ({"clientsecret": "s"}, DefaultAzureCredential),
}


@pytest.mark.parametrize(("settings", "kind"), CREDENTIALS.values(), ids=CREDENTIALS)
def test_an_identity_has_the_credential_that_the_host_would_take(settings: dict[str, str], kind: type[object]) -> None:
    assert type(credential_for(settings)) is kind


@pytest.mark.parametrize(("settings", "_"), CREDENTIALS.values(), ids=CREDENTIALS)
def test_a_connection_by_identity_has_one_client_for_the_process(settings: dict[str, str], _: type[object]) -> None:
    first, second = (broker(None, lambda: Identity(SHOP, dict(settings))) for _ in range(2))

    assert (first.namespace, second is first) == (SHOP, True)


def test_no_secret_is_shown() -> None:
    shown = repr((ConnectionString(KEY), Identity(SHOP, {"clientsecret": "c2VjcmV0"})))

    assert shown == "(ConnectionString(...), Identity('shop.servicebus.windows.net', ...))"


NAMES = {
    "no setting": ("orders", "orders"),
    "a setting": ("%Queue%", "orders-1"),
    "in other letters": ("%QUEUE%", "orders-1"),
    "of a section": ("%Queues:Orders%", "orders-2"),
    "as a part": ("a-%Queue%-%Stage%", "a-orders-1-test"),
}


@pytest.mark.parametrize(("text", "name"), NAMES.values(), ids=NAMES)
def test_settings_stand_in_names(text: str, name: str) -> None:
    settings = {"Queue": "orders-1", "Queues__Orders": "orders-2", "Stage": "test"}

    assert resolved(text, settings) == name


def test_a_setting_that_does_not_exist_is_refused_and_the_error_says_what_to_add() -> None:
    with pytest.raises(ValueError, match=r"^%Queue% in '%Queue%' is no app setting; add Queue to the app"):
        resolved("%Queue%", {})


@pytest.mark.parametrize("text", ["%Queue", "100%", "%Queue%%"])
def test_a_lone_sign_is_refused_as_by_the_host(text: str) -> None:
    with pytest.raises(ValueError, match=f"^'{text}' has a % by itself; write %NAME% for the app setting NAME$"):
        resolved(text, {"Queue": "orders"})


NO_CONNECTIONS = {
    "a host name": (SHOP, "is 'shop.servicebus.windows.net', a host name; write the name of .*: X, where that is X__fully"),
    "an address": (f"sb://{SHOP}/", "is 'sb://shop.servicebus.windows.net/', a host name; write the name of"),
    "the whole name": ("Bus__fullyQualifiedNamespace", "is 'Bus__fullyQualifiedNamespace'; write 'Bus', without __fully"),
    "a lone sign": ("%Bus", "^'%Bus' has a % by itself; write %NAME%"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "why"), NO_CONNECTIONS.values(), ids=NO_CONNECTIONS)
def test_what_names_no_connection_is_refused_when_the_endpoint_is_made(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ServiceBusSettings(Recoverability(), queue="orders", connection=name)


@pytest.mark.parametrize("name", ["a b", "orders-", ".orders", "orders:1", "x" * 261, "bestellungen\n"])
def test_what_names_no_queue_is_refused_when_the_endpoint_is_made(name: str) -> None:
    why = "is no name of a queue; write up to 260 letters, digits, .*, with a letter or digit at both ends$"
    with pytest.raises(ValueError, match=why):
        ServiceBusSettings(Recoverability(failed=Failed(name)), queue="orders", connection="Bus")
    with pytest.raises(ValueError, match=why):
        ServiceBusSettings(Recoverability(), queue=name, connection="Bus")


ERROR_QUEUES = {
    "as given": ("failed", {"RECOVERABLE_ERROR_QUEUE": "other"}, "failed"),
    "by a setting": ("%Failed%", {"Failed": "failed"}, "failed"),
    "by the app settings": (None, {"RECOVERABLE_ERROR_QUEUE": "failed"}, "failed"),
    "by default": (None, {}, "error"),
}


@pytest.mark.parametrize(("given", "settings", "name"), ERROR_QUEUES.values(), ids=ERROR_QUEUES)
def test_the_error_queue_is_named(given: str | None, settings: dict[str, str], name: str) -> None:
    ladder = with_error_queue(Recoverability(failed=Failed(given)), "orders", settings)

    assert ladder.failed.error_queue == name


def test_the_queue_is_not_its_own_error_queue() -> None:
    with pytest.raises(ValueError, match=r"^the error queue is 'Orders', the queue itself; write the name of"):
        with_error_queue(Recoverability(failed=Failed("Orders")), "orders", {})


@pytest.mark.parametrize("name", ["orders/$DeadLetterQueue", "orders/$Transfer/$DeadLetterQueue"])
def test_a_sub_queue_takes_no_copies_and_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"DeadLetterQueue' is a sub-queue, .* and write that queue's name$"):
        queue_name(name, {})
    with pytest.raises(ValueError, match=r"DeadLetterQueue' is a sub-queue, "):
        with_error_queue(Recoverability(failed=Failed(name)), "orders", {})


@pytest.mark.parametrize("name", ["events/Subscriptions/audit", "sales/events/subscriptions/audit"])
def test_a_subscription_takes_no_copies_and_is_refused(name: str) -> None:
    advice = r"is a topic's subscription, .*; let it forward to a queue \(ForwardTo\), and write that queue's name$"
    with pytest.raises(ValueError, match=advice):
        queue_name(name, {})
    with pytest.raises(ValueError, match=advice):
        with_error_queue(Recoverability(failed=Failed(name)), "orders", {})


def test_without_azure_identity_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)

    with pytest.raises(ModuleNotFoundError, match=r"azure\.identity.*; write pip install 'recoverable\[azure\]'"):
        credential_for({})


LOCKS: dict[str, tuple[timedelta | None, dict[str, str], timedelta]] = {
    "as given": (timedelta(minutes=2), {"RECOVERABLE_LOCK_DURATION": "PT1M"}, timedelta(minutes=2)),
    "by the app settings": (None, {"RECOVERABLE_LOCK_DURATION": "PT1M30S"}, timedelta(seconds=90)),
}


@pytest.mark.parametrize(("given", "settings", "lock"), LOCKS.values(), ids=LOCKS)
def test_the_lock_of_a_batch_is_said(given: timedelta | None, settings: dict[str, str], lock: timedelta) -> None:
    assert checked_lock(given, settings) == lock


NO_LOCKS: dict[str, tuple[object, dict[str, str], str]] = {
    "not said": (None, {}, r"^ServiceBusEndpoint\(lock\) is None; write the queue's lockDuration, .*: lock=timedelta"),
    "not said in words": (None, {"RECOVERABLE_LOCK_DURATION": "60"}, r"^'60' is no duration such as PT1M, as a lockDuration is$"),
    "too long": (timedelta(minutes=6), {}, r"^ServiceBusEndpoint\(lock\) is 0:06:00; write .*, up to 5 minutes"),
    "none": (timedelta(0), {}, r"^ServiceBusEndpoint\(lock\) is 0:00:00; write .*, up to 5 minutes"),
    "no timedelta": (60, {}, r"^ServiceBusEndpoint\(lock\) is 60; write .*: lock=timedelta\(minutes=1\)"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "settings", "why"), NO_LOCKS.values(), ids=NO_LOCKS)
def test_a_lock_that_cannot_be_is_refused(given: object, settings: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        checked_lock(given, settings)


def test_only_a_batch_needs_a_lock() -> None:
    single = ServiceBusSettings(Recoverability(), queue="orders", connection="ServiceBus")

    assert single.lock is None
    with pytest.raises(ValueError, match=r"^ServiceBusEndpoint\(lock\) is None"):
        single.replace(batch=True)
