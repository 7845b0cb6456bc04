"""`recoverable check` reads a Service Bus queue as it is deployed, by the real SDK; a server on loopback answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deadlines import DEADLINE
from operate.check.administration import ERRORS, ORDERS, Namespace, administered
from operate.check.conftest import Check, not_checked, rules_found
from recoverable_operate._cli import main
from recoverable_operate.rules import SERVICE_BUS_RULES

LOOKED_AT = {
    "accepted-values", "delay-life", "plan-timeout", "queue-stays",
    "max-delivery-count", "dead-letters", "entity-names", "expiry", "session-expiry", "ladder-life", "tier",
    "error-queue-duplicates", "error-queue-expiry", "error-queue-forwards",
}  # fmt: skip
"""Rules on what is deployed; the others are on the app, and on its code."""


@pytest.fixture
def namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Namespace]:
    with administered(tmp_path) as here:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(here.certificate))
        monkeypatch.setenv("SERVICE_BUS_CONNECTION", here.connection_string)
        yield here


@pytest.mark.parametrize("verb", [["check"], ["errors", "list"]])
def test_without_a_way_to_sign_in_a_connection_string_is_named(
    verb: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SERVICE_BUS_CONNECTION", raising=False)
    monkeypatch.setitem(sys.modules, "azure.identity", None)

    status = main([*verb, "--queue", "sb://shop.servicebus.windows.net/orders"])

    assert (status, capsys.readouterr().err) == (
        2,
        f"recoverable {verb[0]}: Service Bus needs azure.identity: pip install 'recoverable-operate[azure]',"
        " or name the variable that holds a connection string by --connection\n",
    )


def test_nothing_is_found_where_all_is_right(check: Check, namespace: Namespace) -> None:
    ran = check("--queue", namespace.address("orders"), "--immediate-retries", "5", "--json")

    looked_at = {each.name for each in SERVICE_BUS_RULES} - not_checked(ran).keys()
    assert (ran.status, rules_found(ran), looked_at) == (0, [], LOOKED_AT)


def test_each_thing_that_is_wrong_is_found_as_it_is_deployed(check: Check, namespace: Namespace) -> None:
    namespace.tier = "Basic"
    namespace.queues = {
        "orders": {
            **ORDERS, "MaxDeliveryCount": "10", "DefaultMessageTimeToLive": "P14D", "DeadLetteringOnMessageExpiration": "false"
        },
        "orders-error": {
            **ERRORS, "RequiresDuplicateDetection": "true", "DefaultMessageTimeToLive": "P14D",
            "DeadLetteringOnMessageExpiration": "false", "ForwardTo": "https://shop.servicebus.windows.net/cellar",
        },
    }  # fmt: skip

    ran = check("--queue", namespace.address("orders"))

    assert (
        ran.status,
        [line for line in ran.out.splitlines()[:-1] if line and not line.startswith((" ", "not checked"))],
    ) == (
        1,
        [
            "orders: max-delivery-count",
            "orders: expiry",
            "namespace: tier",
            "orders-error: error-queue-duplicates",
            "orders-error: error-queue-expiry",
            "orders-error: error-queue-expiry",
            "orders-error: error-queue-forwards",
            "7 findings.",
        ],
    )


def test_dead_letters_that_stay_are_found(check: Check, namespace: Namespace) -> None:
    namespace.queues["orders"] = ERRORS

    ran = check("--queue", namespace.address("orders"))

    assert ran.out.startswith("orders: dead-letters\n  orders forwards its dead letters to no queue.\n")


def test_an_error_queue_is_checked_with_each_queue_that_it_is_for(check: Check, namespace: Namespace) -> None:
    namespace.queues |= {"refunds": {**ORDERS, "MaxDeliveryCount": "7"}}

    ran = check("--queue", namespace.address("orders-error"))

    assert ran.out.startswith("refunds: max-delivery-count\n  refunds has a maxDeliveryCount of 7, too few for")


@pytest.mark.parametrize(
    ("queue", "status", "text"),
    [
        ("nowhere", 0, "there is no queue {address}; of a topic, give the queue to which its subscription forwards"),
        ("orders", 401, "the role Azure Service Bus Data Owner, or a connection string with the claim Manage, is missing for {address}"),
        ("orders/$deadletterqueue", 0, "{address} is no queue of its own; give the queue to which it forwards"),
    ],
    ids=["none", "no right", "a sub-queue"],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_line(
    check: Check, namespace: Namespace, queue: str, status: int, text: str
) -> None:
    namespace.status = status
    address = namespace.address(queue)

    assert check("--queue", address) == (2, "", f"recoverable check: {text.format(address=address)}\n")


def test_a_connection_string_of_another_namespace_is_refused(check: Check, namespace: Namespace) -> None:
    ran = check("--queue", "sb://shop/orders")

    assert (ran.status, ran.err) == (
        2,
        f"recoverable check: --queue is of shop.servicebus.windows.net, and SERVICE_BUS_CONNECTION of 127.0.0.1:{namespace.port};"
        " name another variable by --connection\n",
    )


def test_missing_credentials_are_one_line_too(tmp_path: Path) -> None:
    alone = {"HOME": str(tmp_path), "AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential"}
    words = [sys.executable, "-m", "recoverable_operate", "check", "--queue", "sb://shop/orders"]

    ran = subprocess.run(words, env=alone, capture_output=True, text=True, timeout=DEADLINE, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (
        2,
        "",
        "recoverable check: no credentials: run `az login`, or give --connection with a connection string\n",
    )
