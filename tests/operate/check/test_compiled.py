"""Bicep is read as its compiler reads it.

`compiled/` holds what `bicep build` (0.49.2) makes of infra/azure: types, conditions, and the properties of queues, settings and roles. How
many resources are deployed is what `bicep snapshot` predicts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._bicep_resources import deployments, parsed, resources_of_type, typed
from recoverable_operate.templates._bicep_values import File, configuration, value
from recoverable_operate.templates._document import maybe

ROOT = Path(__file__).parents[3]
FILES = ("main", "queue")


def read(name: str, **parameters: str) -> File:
    file = parsed(ROOT / "infra" / "azure" / f"{name}.bicep")
    return File(file.parsed, typed(file, parameters))


def compiled(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((Path(__file__).parent / "compiled" / f"{name}.json").read_text())
    return found


def made(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return the resources that a file makes, in its order."""
    return [(name, each) for name, each in file.section("resources").items() if not each["existing"]]


def leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield each value of compiled properties that is no object and no list, with the way to it."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else None
    if inner is None:
        yield path, node
    for key, each in inner or ():
        yield from leaves(each, (*path, key))


def at(node: Any, path: tuple[str | int, ...], file: File) -> Any:
    """Return what our reader makes of the value at the end of a way."""
    for key in path:
        inner = (
            dict(enumerate(node)) if isinstance(node, list) else {name.strip("'§"): each for name, each in node.items()}
        )
        node = inner[key]
    return maybe(lambda: value(node, file))


@pytest.mark.parametrize("name", FILES)
def test_each_resource_is_there_with_its_type_and_condition(name: str) -> None:
    ours = [(each["type"], "condition" in (each.get("config") or {})) for _, each in made(read(name))]

    assert ours == [(each["type"], "condition" in each) for each in compiled(name)]


@pytest.mark.parametrize("name", FILES)
def test_each_literal_value_is_the_same(name: str) -> None:
    file = read(name)
    literal = [
        (symbol, path, expected, at(configuration(ours).get("properties"), path, file))
        for (symbol, ours), theirs in zip(made(file), compiled(name), strict=True)
        for path, expected in leaves(theirs.get("properties", {}))
        if not (isinstance(expected, str) and expected.startswith("["))
    ]

    assert len(literal) > 15
    assert [each for each in literal if each[2] != each[3]] == []


COMPUTED = {
    ("settings", "RECOVERABLE_IMMEDIATE_RETRIES"): "5",
    ("settings", "RECOVERABLE_TIME_INCREASE"): "10s",
    ("settings", "RECOVERABLE_ERROR_QUEUE"): "orders-error",
    ("settings", "PLACED_QUEUE"): "orders-placed",
    ("settings", "DEAD_LETTER_QUEUE"): "",
    ("ordersQueue", "forwardDeadLetteredMessagesTo"): "orders-error",
    ("ordersQueue", "maxMessageSizeInKilobytes"): None,
}


@pytest.mark.parametrize("place", COMPUTED, ids=str)
def test_a_value_that_follows_from_parameters_is_worked_out(place: tuple[str, str]) -> None:
    file = read("main")
    properties = configuration(file.section("resources")[place[0]])["properties"]

    assert at(properties, place[1:], file) == COMPUTED[place]


SNAPSHOTS: dict[str, tuple[dict[str, str], int]] = {
    "as it stands": ({}, 25),
    "Premium": ({"serviceBusTier": "Premium"}, 25),
    "a rate limit": ({"rateLimitAfter": "50"}, 29),
    "no topic": ({"topicName": ""}, 23),
}


@pytest.mark.parametrize("form", SNAPSHOTS)
def test_as_many_resources_are_deployed_as_the_compiler_predicts(form: str) -> None:
    parameters, count = SNAPSHOTS[form]
    file = read("main", **parameters)

    kinds = {each["type"] for _, each in made(file)}
    assert sum(len(list(resources_of_type(file, kind))) for kind in kinds) == count


EXPRESSIONS: dict[str, Any] = {
    "1 + 2 * 3": 7,
    "2 * 3 + 1": 7,
    "(1 + 2) * 3": 9,
    "10 - 3 - 2": 5,
    "8 / 2 / 2": 2,
    "-1 + 2": 1,
    "1 == 1 ? 'a' : 'b'": "a",
    "1 == 2 ? 'a' : 1 + 1 == 2 ? 'b' : 'c'": "b",
    "1 + 1 == 2 && 3 > 2": True,
    "true || false && false": True,
    "(true || false) && false": False,
    "!empty('a') && length('abc') > 2": True,
    "!(1 == 1)": False,
    "null ?? 'a'": "a",
    "true && false || true": True,
    "'it\\'s ${1 + 2 * 3}'": "it's 7",
    "'a${'b${'c'}'}'": "abc",
    "'$' == '\\$'": True,
    "text": "words",
    "'text'": "text",
    "'${text}-${toUpper(text)}'": "words-WORDS",
    "thing.inner.value > 3 && thing.name == 'x'": True,
    "thing.list[1] == 'b' ? thing['name'] : 'no'": "x",
    "contains(thing, 'name')": True,
    "union({ a: 1 }, { a: 2 }).a": 2,
    "filter([1, 2, 3], n => n > 1 && n < 3)": [2],
    "map(range(0, 2), i => 'q-${i}')": ["q-0", "q-1"],
    "join(map(['a', 'b'], x => toUpper(x)), '-')": "A-B",
    "[for i in range(0, 3): 'q${i}']": ["q0", "q1", "q2"],
    "format('{0}-{1}', text, 1)": "words-1",
    "twice('a')": "aa",
    "any(1) + 1": 2,
    "take('orders', 3)": "ord",
    "substring('orders', 1, 2)": "rd",
    "replace('a-b', '-', '')": "ab",
    "text =~ 'WORDS'": True,
    "string(true)": "true",
}
GIVEN = """
param text string = 'words'
param thing object = {
  name: 'x'
  inner: { value: 4 }
  list: ['a', 'b']
}
func twice(it string) string => '${it}${it}'
var circle = it
var it = EXPRESSION // it's (not) 'one'
"""
ONLY_IN_AZURE = ["uniqueString('a')", "resourceGroup().location", "nowhere", "text.name", "1 / 0", "circle"]


def worked_out(folder: Path, expression: str) -> Any:
    path = folder / "it.bicep"
    path.write_text(GIVEN.replace("EXPRESSION", expression), encoding="utf-8")
    file = parsed(path)
    return maybe(lambda: value(file.section("variables")["it"]["value"], file))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_has_the_value_that_bicep_gives_it(tmp_path: Path, expression: str) -> None:
    assert worked_out(tmp_path, expression) == EXPRESSIONS[expression]


@pytest.mark.parametrize("expression", ONLY_IN_AZURE)
def test_an_expression_that_is_known_in_azure_alone_has_no_value(tmp_path: Path, expression: str) -> None:
    assert isinstance(worked_out(tmp_path, expression), Unknown)


def test_a_module_is_deployed_as_its_condition_says() -> None:
    module: Mapping[str, Any] = {"condition": False, "config": {"params": {}}}

    assert list(deployments(module, File({}))) == []


NEWEST = {
    "Microsoft.Authorization/roleAssignments": "2022-04-01",
    "Microsoft.Insights/components": "2020-02-02",
    "Microsoft.Insights/metricAlerts": "2026-01-01",
    "Microsoft.Insights/scheduledQueryRules": "2026-03-01",
    "Microsoft.Insights/workbooks": "2023-06-01",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "2024-11-30",
    "Microsoft.OperationalInsights/workspaces": "2026-03-01",
    "Microsoft.ServiceBus/namespaces": "2026-01-01",
    "Microsoft.Storage/storageAccounts": "2026-06-01",
    "Microsoft.Web/serverfarms": "2025-03-01",
    "Microsoft.Web/sites": "2025-03-01",
}
"""The newest stable version of each API that the compiler knows; where it is older than two years, there is no newer one."""


@pytest.mark.parametrize("name", FILES)
def test_no_version_of_an_api_is_older_than_two_years_where_there_is_a_newer_one(name: str) -> None:
    found = Counter(
        ("/".join(each["type"].split("/")[:2]), each["api_version"])
        for each in read(name).section("resources").values()
    )

    assert [each for each in found if NEWEST[each[0]] != each[1]] == []
