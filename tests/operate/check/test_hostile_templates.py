"""Whatever stands in a template, `recoverable check` ends with a report or with one line, and never with a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from operate.check.arm_templates import written as written_arm
from operate.check.conftest import Check, not_checked
from operate.check.templates import CODE, changed, good, written
from recoverable_operate.rules import SQS_RULES
from recoverable_operate.rules import check as check_all
from recoverable_operate.templates import TemplateError, describe_template, parse_document, read_template

ROOT = Path(__file__).parents[3]
STRANGE: list[Any] = [
    "x",
    5,
    None,
    [],
    {},
    ["x"],
    {"x": "y"},
    {"Ref": ["x"]},
    {"Fn::If": "x"},
    {"Fn::GetAtt": "Orders.Arn"},
]


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value."""
    if path:
        yield path
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


def replaced(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return the same with another value at the path."""
    if not path:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = replaced(node[path[0]], path[1:], value)
    return copy


@pytest.mark.parametrize("strange", STRANGE, ids=str)
def test_any_value_in_any_place_is_read_or_refused(strange: Any) -> None:
    template = {"Resources": good()}
    template["Resources"]["Role"] = {
        "Type": "AWS::IAM::Role",
        "Properties": {"Policies": [{"PolicyDocument": {"Statement": []}}]},
    }

    for path in places(template):
        assert_read_or_refused(replaced(template, path, strange))


@pytest.mark.parametrize("strange", ["x", {"Fn::ImportValue": "x"}], ids=str)
def test_any_value_in_any_place_of_the_example_shop_is_read_or_refused(strange: Any) -> None:
    template = parse_document((ROOT / "functions/aws/fifo/template.yaml").read_text(encoding="utf-8"))

    for path in places(template):
        assert_read_or_refused(replaced(template, path, strange))


def assert_read_or_refused(template: Any) -> None:
    """Read a template and apply the rules to it, as the command does."""
    with suppress(TemplateError):
        for path in (None, ROOT / "template.yaml"):
            for each in describe_template(read_template(template, {}, lenient=True, path=path)).functions:
                list(check_all(SQS_RULES, each))


@pytest.mark.parametrize(
    ("resources", "text"),
    [
        ({"Q": "x"}, "The resource Q is 'x'; write a mapping with a Type, such as AWS::SQS::Queue."),
        ({"Q": {"Type": 5}}, "The resource Q is {'Type': 5}; write a mapping with a Type, such as AWS::SQS::Queue."),
    ],
)
def test_what_is_no_template_is_said_in_one_line(check: Check, tmp_path: Path, resources: Any, text: str) -> None:
    path = written(tmp_path, resources)

    assert check(path) == (2, "", f"recoverable check: {path}: {text}\n")


DEEP = 1_000
NO_TEMPLATES: dict[str, bytes] = {
    "no UTF-8": b"\xff\xfe",
    "Latin 1": b"Resources: {} # caf\xe9",
    "UTF-16": "Resources: {}".encode("utf-16"),
    "no YAML": b"a: [",
    "a list": b"- a",
    "nothing": b"",
    "a null": b"\x00",
    "JSON with comments": b'{ // it\n "Resources": {} }',
    "two documents": b"Resources: {}\n---\nResources: {}\n",
    "a tag of Python": b"Resources: !!python/object/apply:os.getcwd []",
    "an alias in its own anchor": b"Resources: &a\n  X: { Type: AWS::SQS::Queue, Properties: *a }\n",
    "a list in itself": b"Resources: {}\nx: &a [*a]\n",
    "more values than there are": b"x0: &x0 [1,1,1,1,1,1,1,1]\n" + b"".join(b"x%d: &x%d [*x%d,*x%d,*x%d,*x%d,*x%d,*x%d,*x%d,*x%d]\n" % (n, n, *[n - 1] * 8) for n in range(1, 12)) + b"Resources: {}\n",
    "deep lists": b"Resources: {}\nx: " + b"[" * DEEP + b"]" * DEEP,
    "deep JSON": b'{"Resources": ' + b'{"a": ' * DEEP + b"1" + b"}" * DEEP + b"}",
    "deep blocks": b"Resources:\n" + b"".join(b" " * (n + 1) + b"k:\n" for n in range(DEEP)),
    "no section of resources": b"a: 1",
    "resources that are a list": b"Resources: [1]",
}  # fmt: skip


@pytest.mark.parametrize("form", NO_TEMPLATES)
def test_what_is_no_template_of_any_kind_is_said_in_one_line(check: Check, tmp_path: Path, form: str) -> None:
    (tmp_path / "t.yaml").write_bytes(NO_TEMPLATES[form])

    ran = check(str(tmp_path / "t.yaml"))

    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)


PARAMETERS = "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#"


@pytest.mark.parametrize(
    ("name", "document", "text"),
    [
        (
            "main.tf",
            {},
            "a file of Terraform is not read here; check what it deployed, with --function NAME or --queue QUEUE",
        ),
        (
            "main.parameters.json",
            {"$schema": PARAMETERS, "parameters": {}},
            "it holds parameters; give the template, and this with --parameters",
        ),
        (
            "host.json",
            {"version": "2.0"},
            "it is read with the template that deploys it; give that, or run `recoverable local azure`, which notes what is wrong in it",
        ),
        (
            "serverless.yml",
            {"provider": {}, "functions": {}},
            "a file of the Serverless Framework is not read here; give the template that `serverless package` makes in .serverless/",
        ),
    ],
)
def test_a_file_of_another_tool_is_said_with_what_to_check(
    check: Check, tmp_path: Path, name: str, document: Any, text: str
) -> None:
    (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")

    assert check(str(tmp_path / name)) == (2, "", f"recoverable check: {tmp_path / name}: {text}\n")


def test_a_file_that_does_not_exist_is_said_in_one_line(check: Check) -> None:
    assert check("nowhere.yaml") == (2, "", "recoverable check: nowhere.yaml: there is no such file\n")


@pytest.mark.parametrize(
    "text", [b"\xef\xbb\xbfResources: {}", b"Resources: {}\r\n", b'{"Resources": {}}', b"2020-01-01: 1\nResources: {}"]
)
def test_a_byte_order_mark_and_other_line_ends_are_read(check: Check, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "t.yaml").write_bytes(text)

    assert check(str(tmp_path / "t.yaml")).status == 3


CIRCLES: dict[str, dict[str, Any]] = {
    "conditions": {"Conditions": {"A": {"Condition": "B"}, "B": {"Condition": "A"}}},
    "a condition of itself": {"Conditions": {"A": {"Fn::Not": [{"Condition": "A"}]}}},
    "a mapping of itself": {"Mappings": {"M": {"a": {"b": {"Fn::FindInMap": ["M", "a", "b"]}}}}},
}


@pytest.mark.parametrize("form", CIRCLES)
def test_what_refers_to_itself_is_not_checked(check: Check, tmp_path: Path, form: str) -> None:
    circle = {"Fn::FindInMap": ["M", "a", "b"]} if "Mappings" in CIRCLES[form] else {"Fn::If": ["A", 1, 2]}
    path = written(tmp_path, changed(good(), {"Orders.Properties.VisibilityTimeout": circle}), **CIRCLES[form])

    ran = check(path, "--json")

    assert (ran.status, list(not_checked(ran))) == (0, ["visibility-timeout", "queue-retention"])


def test_any_code_beside_a_template_is_read_or_not_checked(check: Check, tmp_path: Path) -> None:
    for end in range(0, len(CODE), 11):
        ran = check(written(tmp_path, good(), CODE[:end]))
        assert (ran.status in (0, 1), ran.err) == (True, "")


def test_an_arm_template_that_ends_anywhere_is_refused(check: Check, tmp_path: Path) -> None:
    path = Path(written_arm(tmp_path))
    text = path.read_text(encoding="utf-8")
    for end in range(0, len(text) - 1, 297):
        path.write_text(text[:end], encoding="utf-8")
        ran = check(str(path))
        assert (ran.status, ran.err.count("recoverable check")) == (2, 1)
