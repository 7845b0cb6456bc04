"""`recoverable check` finds the endpoint first and then asks who invokes it; where there is none it says so, and exits 3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from operate.check import arm_templates as on_azure
from operate.check.conftest import Check, not_checked, rules_found
from operate.check.templates import attribute, changed, good, written

TOPIC = {"Topic": {"Type": "AWS::SNS::Topic"}}
EVENTS = "Shop.Properties.Events"


def invoked_by(event: object) -> dict[str, Any]:
    """Return the good template with another event in place of the queue."""
    return {**changed(good(), {EVENTS: {"It": event}}), **TOPIC}


def sns(**more: object) -> dict[str, Any]:
    return {"Type": "SNS", "Properties": {"Topic": {"Ref": "Topic"}, **more}}


FOUND: dict[str, tuple[object, list[str]]] = {
    "SNS, with a queue that SAM makes": (sns(SqsSubscription=True), ["partial-responses"]),
    "SNS, with a queue of its own": (sns(SqsSubscription={"QueueArn": attribute("Orders"), "BatchSize": 5}), ["partial-responses"]),
    "SNS": (sns(), ["invoked-by-queue"]),
    "Kinesis": ({"Type": "Kinesis", "Properties": {"Stream": "arn:aws:kinesis:eu-west-1:42:stream/x", "StartingPosition": "LATEST"}}, ["invoked-by-queue"]),
    "a schedule": ({"Type": "Schedule", "Properties": {"Schedule": "rate(1 minute)"}}, ["invoked-by-queue"]),
}  # fmt: skip


@pytest.mark.parametrize("form", FOUND)
def test_an_endpoint_that_no_queue_of_its_own_invokes_is_a_finding(check: Check, tmp_path: Path, form: str) -> None:
    event, rules = FOUND[form]

    ran = check(written(tmp_path, invoked_by(event)), "--json")

    assert (ran.status, rules_found(ran)) == (1, rules)


def test_an_endpoint_behind_a_mapping_of_a_stream_is_a_finding(check: Check, tmp_path: Path) -> None:
    stream = {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {"FunctionName": {"Ref": "Shop"}, "EventSourceArn": "arn:aws:dynamodb:eu-west-1:42:table/x/stream/1"},
    }  # fmt: skip

    ran = check(written(tmp_path, {**changed(good(), {EVENTS: None}), "Mapping": stream}))

    assert "Shop is an endpoint for SQS and is invoked by dynamodb (Mapping)." in ran.out


def test_an_endpoint_that_nothing_invokes_is_looked_at_but_for_who_does(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed(good(), {EVENTS: None}))

    assert check(path).status == 0
    assert "nothing in the template invokes Shop" in not_checked(check(path, "--json"))["invoked-by-queue"]
    assert check(path, "--strict").status == 1


def test_rules_of_the_code_hold_for_an_endpoint_that_nothing_invokes(check: Check, tmp_path: Path) -> None:
    late = "from datetime import timedelta\nfrom recoverable.aws import SqsEndpoint\nhandler = SqsEndpoint(print, handler_timeout=timedelta(minutes=5))\n"

    ran = check(written(tmp_path, changed(good(), {EVENTS: None}), late), "--json")

    assert rules_found(ran) == ["handler-timeout"]


SETTING = on_azure.CODE.replace('"orders"', '"%ORDERS_QUEU%"')


@pytest.mark.parametrize(
    ("settings", "write"),
    [({"ORDERS_QUEUE": "orders"}, "Write %ORDERS_QUEUE%."), ({}, "Add ORDERS_QUEU to the app settings.")],
)
def test_a_setting_that_is_none_is_a_finding(
    check: Check, tmp_path: Path, settings: dict[str, str], write: str
) -> None:
    resources = on_azure.changed({f"{on_azure.OF_APP}.{name}": each for name, each in settings.items()})

    ran = check(on_azure.written(tmp_path, resources, code=SETTING))

    assert ran.status == 1
    assert "%ORDERS_QUEU% is no app setting of the file." in ran.out
    assert write in ran.out


BUS_ALONE = {"bus": on_azure.GOOD["bus"]}
BY_SETTING = on_azure.CODE.replace('"orders"', '"%QUEUE%"')


def test_an_endpoint_whose_queue_nothing_says_is_looked_at(check: Check, tmp_path: Path) -> None:
    wrong = on_azure.host(prefetchCount=7)

    ran = check(on_azure.written(tmp_path, BUS_ALONE, wrong, BY_SETTING), "--json")

    assert (ran.status, rules_found(ran)) == (1, ["prefetch"])


def test_an_endpoint_in_a_folder_of_routes_is_found(check: Check, tmp_path: Path) -> None:
    path = on_azure.written(
        tmp_path, code="import pkgutil\nfor module in pkgutil.iter_modules(['routes']): load(module)\n"
    )
    (tmp_path / "routes").mkdir()
    (tmp_path / "routes" / "orders.py").write_text(on_azure.CODE, encoding="utf-8")

    assert check(path) == (0, on_azure.ALL_DONE, "")


NOTHING = {"Api": {"Type": "AWS::SNS::Topic"}}


@pytest.mark.parametrize("words", [(), ("--strict",)])
def test_where_there_is_nothing_to_look_at_the_status_is_3_and_it_says_what_it_looked_for(
    check: Check, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = written(tmp_path, NOTHING)

    assert check(path, *words) == (
        3,
        f"{path} has neither an endpoint nor a function that reads a queue. Looked for: functions with an event or a mapping of SQS,"
        " and endpoints in the code of functions.\nNothing was checked.\n",
        "",
    )


def test_azure_says_what_it_looked_for_too(check: Check, tmp_path: Path) -> None:
    ran = check(on_azure.written(tmp_path, BUS_ALONE, code="import azure.functions\n"))

    assert (ran.status, "Looked for: queues of Service Bus" in ran.out) == (3, True)


def test_json_says_in_which_files_there_was_nothing(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, NOTHING)

    counts = {"checks": 0, "notDone": 0, "leftAlone": [], "nothingIn": [path]}
    assert json.loads(check(path, "--json").out) == counts


def test_a_file_without_any_among_others_is_one_line(check: Check, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    nothing, something = written(tmp_path / "other", NOTHING), written(tmp_path, good())

    ran = check(nothing, something)

    assert (ran.status, ran.out.count(nothing), "Nothing found." in ran.out) == (0, 1, True)


def test_what_cannot_be_read_counts_where_there_is_nothing_else(check: Check, tmp_path: Path) -> None:
    stack = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://x.test/t.yaml"}}

    ran = check(written(tmp_path, {"Inner": stack}), "--json", "--strict")

    assert (ran.status, list(not_checked(ran))) == (1, ["all-parts"])
