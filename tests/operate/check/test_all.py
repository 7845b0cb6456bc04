"""`recoverable check --all` applies the rules that hold without this package to each function that reads a queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from operate.check import arm_templates as on_azure
from operate.check.conftest import Check, found, rules_found
from operate.check.templates import Template, changed, good, written

PLAIN = "def handler(event, context):\n    return None\n"
EVENT = "Shop.Properties.Events.Orders.Properties"

FOUND: dict[str, tuple[Template, list[str]]] = {
    "nothing": ({}, []),
    "no partial responses": ({f"{EVENT}.FunctionResponseTypes": None}, ["partial-responses"]),
    "a function of another language": ({f"{EVENT}.FunctionResponseTypes": None, "Shop.Properties.Runtime": "nodejs22.x"}, ["partial-responses"]),
    "no redrive policy": ({"Orders.Properties.RedrivePolicy": None}, ["redrive-policy"]),
    "few receives": ({"Orders.Properties.RedrivePolicy.maxReceiveCount": 3}, ["max-receive-count"]),
    "a short visibility": ({"Orders.Properties.VisibilityTimeout": 30}, ["visibility-timeout"]),
    "what this package alone needs": ({"Shop.Properties.RecursiveLoop": None, "Shop.Properties.Policies": None, "Shop.Properties.Environment": None}, []),
}  # fmt: skip


@pytest.mark.parametrize("form", FOUND)
def test_a_plain_function_on_aws_is_checked(check: Check, tmp_path: Path, form: str) -> None:
    change, rules = FOUND[form]

    ran = check("--all", written(tmp_path, changed(good(), change), PLAIN), "--json")

    assert rules_found(ran) == rules


def test_a_finding_is_in_words_for_a_plain_function(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed(good(), {f"{EVENT}.FunctionResponseTypes": None}), PLAIN)

    [(_, text)] = found(check("--all", path, "--json"))

    assert text.endswith("write it, and return the ids of the messages that failed")


def test_a_plain_queue_on_azure_is_checked(check: Check, tmp_path: Path) -> None:
    silent = on_azure.changed({f"{on_azure.OF_QUEUE}.defaultMessageTimeToLive": "P14D"})

    ran = check("--all", on_azure.written(tmp_path, silent, code="import azure.functions\n"), "--json")

    assert rules_found(ran) == ["expiry"]


def test_a_folder_is_looked_at_in_one_run(check: Check, tmp_path: Path) -> None:
    for name, change in (
        ("one", {}),
        ("two", {"Orders.Properties.RedrivePolicy": None}),
        (".aws-sam", {"Orders": None}),
    ):
        (tmp_path / name).mkdir()
        written(tmp_path / name, changed(good(), change), PLAIN)

    ran = check("--all", str(tmp_path), "--json")

    assert (ran.status, rules_found(ran), ran.err) == (1, ["redrive-policy"], "")


def test_a_folder_without_a_template_is_said(check: Check, tmp_path: Path) -> None:
    ran = check("--all", str(tmp_path))

    assert (ran.status, ran.err) == (
        2,
        f"recoverable check: {tmp_path}: there is no template in this folder; give one\n",
    )
