"""What `recoverable check` reads of an ARM template, and what it says of files that it cannot read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from operate.check.arm_templates import (
    ALL_DONE,
    BUS,
    CODE,
    ELSEWHERE,
    GOOD,
    HOST,
    IDENTITY,
    OF_QUEUE,
    OF_SUBSCRIPTION,
    RECEIVER,
    RULES,
    SENDER,
    changed,
    document,
    module,
    queue,
    role,
    written,
)
from operate.check.conftest import Check, not_checked, reported, rules_found
from operate.check.templates import Template

COMPILED = Path(__file__).parent / "compiled"


def test_a_parameter_is_given(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed({f"{OF_QUEUE}.maxDeliveryCount": 11}))

    assert [check(path, *words).status for words in ([], ["--parameter", "immediateRetries=6"])] == [0, 1]


FILES: dict[str, tuple[str, int]] = {
    "ARM's": ('{"parameters": {"immediateRetries": {"value": 6}}}', 1),
    "azd's, of the environment": ('{"parameters": {"immediateRetries": {"value": "${RETRIES}"}}}', 1),
    "azd's, with a default that is not used": ('{"parameters": {"immediateRetries": {"value": "${RETRIES=5}"}}}', 1),
    "azd's, with a default": ('{"parameters": {"immediateRetries": {"value": "${NOWHERE=6}"}}}', 1),
    "azd's, of nothing": ('{"parameters": {"immediateRetries": {"value": "${NOWHERE}"}}}', 0),
    "of a key vault": ('{"parameters": {"immediateRetries": {"reference": {}}}}', 0),
}


@pytest.mark.parametrize("form", FILES)
def test_parameters_are_given_in_a_file(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("RETRIES", "6")
    text, status = FILES[form]
    (tmp_path / "p.json").write_text(text, encoding="utf-8")
    path = written(tmp_path, changed({f"{OF_QUEUE}.maxDeliveryCount": 11}))

    assert check(path, "--parameters", str(tmp_path / "p.json")).status == status


def test_the_command_line_wins_over_a_file(check: Check, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(FILES["ARM's"][0], encoding="utf-8")
    path = written(tmp_path, changed({f"{OF_QUEUE}.maxDeliveryCount": 11}))

    assert check(path, "--parameters", str(tmp_path / "p.json"), "--parameter", "immediateRetries=5").status == 0


@pytest.mark.parametrize(("deliveries", "status"), [(33, 1), (34, 0)])
def test_ordered_sessions_take_a_delivery_for_each_attempt(
    check: Check, tmp_path: Path, deliveries: int, status: int
) -> None:
    file = written(tmp_path, changed({f"{OF_QUEUE}.maxDeliveryCount": deliveries}))

    assert (check(file, "--ordered").status, check(file).status) == (status, 0)


def refunds(**properties: object) -> Template:
    """Return what the project's own module is given for another queue."""
    given: Template = {"namespaceName": f"[{BUS}]", "queueName": "refunds", "principalId": IDENTITY, **properties}
    return {name: {"value": each} for name, each in given.items()}


def own_module(**given: object) -> Template:
    """Return the project's own module, as it is compiled, with what it is given."""
    template = json.loads((COMPILED / "queue.json").read_text(encoding="utf-8"))
    properties = {
        "expressionEvaluationOptions": {"scope": "inner"},
        "parameters": refunds(**given),
        "template": template,
    }
    return {"type": "Microsoft.Resources/deployments", "name": "refunds", "properties": properties}


@pytest.mark.parametrize(("given", "rules"), [({}, []), ({"maxDeliveryCount": 7}, ["max-delivery-count"])])
def test_a_queue_of_a_module_is_checked_with_what_it_is_given(
    check: Check, tmp_path: Path, given: dict[str, Any], rules: list[str]
) -> None:
    code = CODE.replace("orders", "refunds").replace(
        "Recoverability.from_environment()", "Recoverability(failed=Failed('refunds-error'))"
    )
    code = code.replace("import Recoverability", "import Failed, Recoverability")
    path = written(tmp_path, {**GOOD, "refunds": own_module(**given)}, code=CODE + code)

    assert rules_found(check(path, "--json")) == rules


NAMES = {
    "with its parent's name": ("shop/orders", "orders"),
    "with one that is not known": (f"[format('{{0}}/orders', {BUS})]", "orders"),
    "one that Azure adds something to": (
        "[format('shop/orders-{0}', uniqueString(resourceGroup().id))]",
        "orders-<uniqueString(resourceGroup().id)>",
    ),
    "one that Azure alone knows": (ELSEWHERE, "<ordersQueue>"),
}


@pytest.mark.parametrize("form", NAMES)
def test_a_queue_is_called_by_its_own_name_or_by_its_symbol(check: Check, tmp_path: Path, form: str) -> None:
    written_as, name = NAMES[form]
    few = changed({"ordersQueue.name": written_as, f"{OF_QUEUE}.maxDeliveryCount": 7})

    assert check(written(tmp_path, few, code=None)).out.startswith(f"{name}: max-delivery-count\n")


@pytest.mark.parametrize(
    ("count", "names"), [("[length(variables('all'))]", ["a", "b"]), (ELSEWHERE, ["<copyIndex(many)>"])]
)
def test_queues_of_a_loop_are_checked_one_by_one_or_as_one(
    check: Check, tmp_path: Path, count: str, names: list[str]
) -> None:
    many = queue("", forwardDeadLetteredMessagesTo="orders-error")
    many |= {"copy": {"name": "many", "count": count}}
    by_place = (
        "[format('shop/{0}', variables('all')[copyIndex()])]" if len(names) > 1 else "[format('shop/{0}', copyIndex())]"
    )
    everywhere = {**role(RECEIVER, "orders"), "scope": "[resourceId('Microsoft.ServiceBus/namespaces', 'shop')]"}
    resources = {**GOOD, "mayReceive": everywhere, "many": {**many, "name": by_place}}

    ran = check(written(tmp_path, resources, code=None, variables={"all": ["a", "b"]}), "--json")

    found = [each["where"] for each in reported(ran) if each["rule"] == "max-delivery-count" and "wrong" in each]
    assert found == names


def test_a_subscription_that_drops_what_expires_is_found(check: Check, tmp_path: Path) -> None:
    ran = check(written(tmp_path, changed({f"{OF_SUBSCRIPTION}.deadLetteringOnMessageExpiration": None})))

    assert ran.out.startswith("placed: subscriptions\n  the subscription placed drops what expires.\n")


def test_a_subscription_that_forwards_elsewhere_is_not_checked(check: Check, tmp_path: Path) -> None:
    elsewhere = {f"{OF_SUBSCRIPTION}.forwardTo": "audit", f"{OF_SUBSCRIPTION}.forwardDeadLetteredMessagesTo": None}

    assert check(written(tmp_path, changed(elsewhere))).status == 0


def test_a_queue_that_nobody_reads_is_not_checked(check: Check, tmp_path: Path) -> None:
    placed = queue("placed", defaultMessageTimeToLive="P14D")

    assert check(written(tmp_path, {**GOOD, "placed": placed})).status == 0


def test_a_resource_under_a_condition_that_does_not_hold_is_not_deployed(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed({"errorQueue.condition": "[greater(parameters('immediateRetries'), 9)]"}))

    assert "the queue orders-error is not in this file" in not_checked(check(path, "--json"))["roles"]


def test_a_value_that_azure_alone_knows_is_said_and_hides_no_other(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed({f"{OF_QUEUE}.maxDeliveryCount": ELSEWHERE, f"{OF_QUEUE}.lockDuration": "PT1M"}))

    why = not_checked(check(path, "--json"))

    assert list(why) == ["max-delivery-count"]
    assert why["max-delivery-count"].endswith(".something is known in Azure alone")


def test_a_function_that_is_not_known_makes_one_value_unknown_with_its_name(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed({f"{OF_QUEUE}.maxDeliveryCount": "[brandNew(1)]"}))

    assert not_checked(check(path, "--json")) == {"max-delivery-count": "the function brandnew is not read here"}


def test_an_app_without_a_host_json_is_said(check: Check, tmp_path: Path) -> None:
    path = Path(written(tmp_path))
    (tmp_path / "host.json").unlink()

    assert not_checked(check(str(path), "--json"))["lock-renewal"].startswith("there is no host.json beside the file")


def test_a_folder_of_the_app_is_given(check: Check, tmp_path: Path) -> None:
    path = Path(written(tmp_path))
    app = tmp_path / "app"
    app.mkdir()
    for name in ("host.json", "function_app.py"):
        (tmp_path / name).rename(app / name)

    assert check(str(path), "--app", str(app)) == (0, ALL_DONE, "")
    assert check(str(path), "--app", str(tmp_path)).err.endswith("there is no host.json in it\n")


AZD = "services:\n  api: { project: src/api, language: python, host: function }\n  web: { project: src/web, host: appservice }\n"


def in_layout_of_azd(folder: Path, azd: str = AZD) -> str:
    """Write the files as azd lays them out, the resources in a module of the subscription's deployment, and return the path."""
    (folder / "azure.yaml").write_text(azd, encoding="utf-8")
    api = folder / "src" / "api"
    api.mkdir(parents=True)
    (api / "host.json").write_text(json.dumps(HOST), encoding="utf-8")
    (api / "function_app.py").write_text(CODE, encoding="utf-8")
    group = {"type": "Microsoft.Resources/resourceGroups", "name": "[parameters('environmentName')]"}
    web = {"type": "Microsoft.Web/sites", "name": "web", "tags": {"azd-service-name": "web"}}
    tagged = {**GOOD["shop"], "tags": {"azd-service-name": "api"}}
    main = document(
        {"rg": group, "all": module({**GOOD, "shop": tagged, "web": web}, parameters={"immediateRetries": {"type": "int", "defaultValue": 5}})},
        parameters={"environmentName": {"type": "string"}},
    )  # fmt: skip
    (folder / "infra").mkdir()
    path = folder / "infra" / "main.json"
    path.write_text(json.dumps(main), encoding="utf-8")
    return str(path)


def test_an_app_in_the_layout_of_azd_is_found(check: Check, tmp_path: Path) -> None:
    ran = check(in_layout_of_azd(tmp_path))

    assert ran == (0, f"Nothing found.\n{RULES + 1} of {RULES + 1} checks done ({RULES + 1} rules, 2 functions).\n", "")


def test_of_several_apps_of_azd_one_is_to_be_named(check: Check, tmp_path: Path) -> None:
    path = in_layout_of_azd(tmp_path, AZD.replace("appservice", "function"))

    assert "azure.yaml has the function apps api, web; --app FOLDER says which" in check(path).out
    assert check(path, "--app", str(tmp_path / "src" / "api")).status == 0


def test_a_role_for_what_a_module_returns_is_the_apps(check: Check, tmp_path: Path) -> None:
    identity = module(
        {"identity": GOOD["identity"]},
        parameters={},
        outputs={"principalId": {"type": "string", "value": "[reference('identity', '2024-11-30').principalId]"}},
    )
    of_module = "[reference('who').outputs.principalId.value]"
    resources = {
        **{name: each for name, each in GOOD.items() if name != "identity"},
        "who": identity,
        "mayReceive": role(RECEIVER, "orders", of_module),
        "maySend": role(SENDER, "orders", of_module),
        "maySendErrors": role(SENDER, "orders-error", of_module),
    }

    assert rules_found(check(written(tmp_path, resources), "--json")) == []


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("this is no JSON", (), "A template is a mapping with the section Resources"),
        ('{"$schema": "deploymentTemplate.json"', (), "it is no JSON: "),
        (json.dumps(document(GOOD)), ("--parameter", "retries=6"), "there is no parameter retries; the file has immediateRetries"),
        (json.dumps(document(GOOD)), ("--parameter", "immediateRetries=six"), "--parameter: immediateRetries is 'six', and its type is int"),
        (json.dumps(document(GOOD)), ("--parameters", "nowhere.json"), "No such file or directory"),
        (json.dumps(document({"q": {"type": "a/b", "name": "c", "copy": {"name": "l", "count": 10**9}}})), (), "the loop l has 1000000000 rounds"),
    ],
    ids=["no JSON", "half of one", "a parameter that is none", "a number that is none", "no such file", "a loop without end"],
)  # fmt: skip
def test_what_cannot_be_read_is_said(
    check: Check, tmp_path: Path, text: str, words: tuple[str, ...], said: str
) -> None:
    path = Path(written(tmp_path))
    path.write_text(text, encoding="utf-8")

    ran = check(str(path), *words)

    assert (ran.status, ran.out, said in ran.err) == (2, "", True), ran


CIRCLES: dict[str, Any] = {
    "a variable of itself": {"v": "[variables('v')]"},
    "two of each other": {"v": "[variables('w')]", "w": "[concat('a', variables('v'))]"},
    "a text that doubles": {"v": "[concat(variables('v1'), variables('v1'))]"}
    | {f"v{place}": f"[concat(variables('v{place + 1}'), variables('v{place + 1}'))]" for place in range(1, 60)}
    | {"v60": "x"},
    "brackets without end": {"v": "[" + "concat(" * 5_000 + "'a'" + ")" * 5_000 + "]"},
}


@pytest.mark.parametrize("form", CIRCLES)
def test_a_value_without_end_is_not_checked(check: Check, tmp_path: Path, form: str) -> None:
    path = written(tmp_path, changed({f"{OF_QUEUE}.maxDeliveryCount": "[variables('v')]"}), variables=CIRCLES[form])

    assert list(not_checked(check(path, "--json"))) == ["max-delivery-count"]
