"""What `recoverable check` reads of a Bicep file, and what it says of files that it cannot read."""

from __future__ import annotations

from pathlib import Path

import pytest

from operate.check.bicep_files import CODE, GOOD, changed, written
from operate.check.conftest import Check, not_checked, reported

ROOT = Path(__file__).parents[3]


def test_a_parameter_is_given(check: Check, tmp_path: Path) -> None:
    few = changed("maxDeliveryCount: 100", "maxDeliveryCount: 11")

    assert [check(written(tmp_path, few), *words).status for words in ([], ["--parameter", "immediateRetries=6"])] == [
        0,
        1,
    ]


@pytest.mark.parametrize(("deliveries", "status"), [(33, 1), (34, 0)])
def test_ordered_sessions_take_a_delivery_for_each_attempt(
    check: Check, tmp_path: Path, deliveries: int, status: int
) -> None:
    file = written(tmp_path, changed("maxDeliveryCount: 100", f"maxDeliveryCount: {deliveries}"))

    assert (check(file, "--ordered").status, check(file).status) == (status, 0)


def test_a_queue_of_a_module_is_checked_with_the_parameters_that_it_is_given(check: Check, tmp_path: Path) -> None:
    main = written(
        tmp_path,
        GOOD
        + """
module refunds 'queue.bicep' = {
  name: 'refunds'
  params: { namespaceName: bus.name, queueName: 'refunds', principalId: identity.properties.principalId, maxDeliveryCount: 7 }
}
""",
        code=CODE + CODE.replace("orders", "refunds"),
    )
    module = (ROOT / "infra" / "azure" / "queue.bicep").read_text(encoding="utf-8")
    (tmp_path / "infra" / "queue.bicep").write_text(module, encoding="utf-8")

    ran = check(main)

    assert ran.out.startswith("refunds: max-delivery-count\n  refunds has a maxDeliveryCount of 7, too few for")


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("parent: bus\n  name: 'orders'\n", "name: 'shop/orders'\n", "orders"),
        ("parent: bus\n  name: 'orders'\n", "name: '${bus.name}/orders'\n", "orders"),
        ("parent: bus\n  name: 'orders'\n", "name: 'orders-${uniqueString(bus.id)}'\n", "<ordersQueue>"),
    ],
    ids=["with its parent's name", "with one that is not known", "one that only Azure knows"],
)
def test_a_queue_is_called_by_its_own_name_or_by_its_symbol(
    check: Check, tmp_path: Path, old: str, new: str, name: str
) -> None:
    file = changed(old, new).replace("maxDeliveryCount: 100", "maxDeliveryCount: 7")

    assert check(written(tmp_path, file, code=None)).out.startswith(f"{name}: max-delivery-count\n")


@pytest.mark.parametrize(("items", "names"), [("['a', 'b']", ["a", "b"]), ("bus.properties.names", ["<many>"])])
def test_queues_of_a_loop_are_checked_one_by_one_or_as_one(
    check: Check, tmp_path: Path, items: str, names: list[str]
) -> None:
    loop = f"""
resource many 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [for each in {items}: {{
  parent: bus
  name: each
  properties: {{ forwardDeadLetteredMessagesTo: errorQueue.name }}
}}]
"""
    everywhere = changed(
        "scope: ordersQueue\n  properties: { roleDefinitionId: receiver",
        "scope: bus\n  properties: { roleDefinitionId: receiver",
    )

    ran = check(written(tmp_path, everywhere + loop, code=None), "--json")

    assert [
        each["where"] for each in reported(ran) if each["rule"] == "max-delivery-count" and "wrong" in each
    ] == names


def test_a_subscription_that_drops_what_expires_is_found(check: Check, tmp_path: Path) -> None:
    ran = check(written(tmp_path, changed("deadLetteringOnMessageExpiration: 1 == 1")))

    assert ran.out.startswith("placed: subscriptions\n  the subscription placed drops what expires.\n")


def test_a_subscription_that_forwards_elsewhere_is_not_checked(check: Check, tmp_path: Path) -> None:
    elsewhere = changed(
        "forwardTo: ordersQueue.name\n    forwardDeadLetteredMessagesTo: 'orders-error'", "forwardTo: 'audit'"
    )

    assert check(written(tmp_path, elsewhere)).status == 0


def test_a_queue_that_nobody_reads_is_not_checked(check: Check, tmp_path: Path) -> None:
    placed = """
resource placed 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = {
  parent: bus
  name: 'placed'
  properties: { defaultMessageTimeToLive: 'P14D' }
}
"""

    assert check(written(tmp_path, GOOD + placed)).status == 0


def test_a_resource_under_a_condition_that_does_not_hold_is_not_deployed(check: Check, tmp_path: Path) -> None:
    file = changed("errorQueue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = {", "errorQueue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = if (immediateRetries > 9) {")  # fmt: skip

    ran = check(written(tmp_path, file))

    assert (
        "error-queue-duplicates, error-queue-expiry, error-queue-forwards, roles: the queue orders-error is not in this file;"
        " `recoverable check --queue` looks at a deployed one." in ran.out
    )


def test_a_value_that_only_azure_knows_is_said(check: Check, tmp_path: Path) -> None:
    file = changed("maxDeliveryCount: 100", "maxDeliveryCount: bus.properties.most")

    assert "max-delivery-count: bus.properties is known in Azure alone." in check(written(tmp_path, file)).out


def test_an_app_without_a_host_json_is_said(check: Check, tmp_path: Path) -> None:
    path = Path(written(tmp_path, GOOD))
    (tmp_path / "host.json").unlink()

    assert (
        not_checked(check(str(path), "--json"))["lock-renewal"] == "there is no host.json beside the file or above it"
    )


def test_a_file_without_a_queue_has_nothing_to_check(check: Check, tmp_path: Path) -> None:
    assert check(written(tmp_path, "param a string\n", code=None)) == (
        0,
        "Nothing to check: no function that reads a queue uses this package.\n",
        "",
    )


@pytest.mark.parametrize(
    ("bicep", "words", "text"),
    [
        ("this is no Bicep", (), "the parser does not understand it from line 1"),
        (GOOD, ("--parameter", "retries=6"), "there is no parameter retries; the file has immediateRetries"),
        (GOOD, ("--parameter", "immediateRetries=six"), "--parameter: invalid literal for int() with base 10: 'six'"),
    ],
    ids=["no Bicep", "a parameter that is none", "a number that is none"],
)
def test_what_cannot_be_read_is_said_in_one_line(
    check: Check, tmp_path: Path, bicep: str, words: tuple[str, ...], text: str
) -> None:
    path = written(tmp_path, bicep)

    assert check(path, *words) == (2, "", f"recoverable check: {path}: {text}\n")
