"""The values of an ARM template are those that Azure gives them.

The results of functions are those of Microsoft's reference ("ARM template functions"), how many resources are deployed is what `bicep snapshot`
(0.49.2) predicts of infra/azure.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from operate.check.compile_bicep import HASHES, hashes
from recoverable_operate.templates import ArmScope
from recoverable_operate.templates._arm_functions import FUNCTIONS, Later
from recoverable_operate.templates._arm_parameters import typed
from recoverable_operate.templates._arm_resources import parse_template, resources_of
from recoverable_operate.templates._arm_values import IN_AZURE, SPECIAL, value

COMPILED = Path(__file__).parent / "compiled"

TEST_OBJECT = {"one": "a", "two": "b", "three": "c"}
OBJECTS: dict[str, Any] = {
    "variables": {
        "object": TEST_OBJECT,
        "list": ["one", "two", "three"],
        "dogs": [{"name": "Evie", "age": 5}, {"name": "Casper", "age": 3}, {"name": "Indy", "age": 2}, {"name": "Kira", "age": 8}],
        "copy": [{"name": "made", "count": 3, "input": "[concat('q', copyIndex('made', 1))]"}],
    },
    "functions": [
        {
            "namespace": "contoso",
            "members": {
                "uniqueName": {
                    "parameters": [{"name": "namePrefix", "type": "string"}],
                    "output": {"type": "string", "value": "[concat(toLower(parameters('namePrefix')), '-x')]"},
                }
            },
        }
    ],
}  # fmt: skip

RESULTS: dict[str, dict[str, Any]] = {
    "add": {"add(5, 3)": 8},
    "and": {"and(bool('true'), bool('false'))": False, "and(true(), not(false()))": True},
    "array": {"array('efgh')": ["efgh"], "array(1)": [1]},
    "base64": {"base64('one, two, three')": "b25lLCB0d28sIHRocmVl"},
    "base64tojson": {"base64ToJson('eyJvbmUiOiAiYSIsICJ0d28iOiAiYiJ9')": {"one": "a", "two": "b"}},
    "base64tostring": {"base64ToString('b25lLCB0d28sIHRocmVl')": "one, two, three"},
    "bool": {"bool('true')": True, "bool(1)": True, "bool('false')": False, "bool(0)": False},
    "coalesce": {"coalesce(null(), null(), 'default')": "default", "coalesce(null(), 1)": 1},
    "concat": {"concat('prefix', '-', 'x')": "prefix-x", "concat(createArray('1-1'), createArray('2-1'))": ["1-1", "2-1"]},
    "contains": {
        "contains('OneTwoThree', 'e')": True, "contains('OneTwoThree', 'z')": False, "contains(variables('object'), 'ONE')": True,
        "contains(variables('object'), 'a')": False, "contains(variables('list'), 'three')": True, "contains(variables('list'), 'four')": False,
    },
    "copyindex": {"variables('made')": ["q1", "q2", "q3"]},
    "createarray": {"createArray('a', 'b')": ["a", "b"], "createArray()": []},
    "createobject": {"createObject('intProp', 1, 'nullProp', null())": {"intProp": 1, "nullProp": None}},
    "div": {"div(8, 3)": 2, "div(-8, 3)": -2},
    "empty": {"empty('')": True, "empty(createArray())": True, "empty(null())": True, "empty('a')": False, "empty(createObject())": True},
    "endswith": {"endsWith('abcdef', 'ef')": True, "endsWith('abcdef', 'F')": True, "endsWith('abcdef', 'e')": False},
    "equals": {"equals(1, 1)": True, "equals('a', 'a')": True, "equals('a', 'A')": False, "equals(createArray('a'), createArray('a'))": True, "equals(1, '1')": False, "equals(1, true())": False},
    "extensionresourceid": {"extensionResourceId('/a', 'Microsoft.Authorization/locks', 'l')": "/a/providers/Microsoft.Authorization/locks/l"},
    "fail": {"if(true(), 1, fail('never'))": 1},
    "false": {"false()": False},
    "filter": {"filter(variables('list'), lambda('x', equals(lambdaVariables('x'), 'two')))": ["two"], "map(filter(variables('dogs'), lambda('dog', greaterOrEquals(lambdaVariables('dog').age, 5))), lambda('d', lambdaVariables('d').name))": ["Evie", "Kira"]},
    "first": {"first(variables('list'))": "one", "first('One Two Three')": "O"},
    "flatten": {"flatten(createArray(createArray('a', 'b'), createArray('c')))": ["a", "b", "c"]},
    "format": {"format('{0}, {1}. Formatted number: {2:N0}', 'Hello', 'User', 8175133)": "Hello, User. Formatted number: 8,175,133", "format('{{{0:D3}}}', 7)": "{007}"},
    "greater": {"greater(5, 3)": True, "greater('A', 'a')": False},
    "greaterorequals": {"greaterOrEquals(3, 3)": True},
    "groupby": {"groupBy(createArray('foo', 'bar', 'baz'), lambda('x', substring(lambdaVariables('x'), 0, 1)))": {"f": ["foo"], "b": ["bar", "baz"]}},
    "if": {"if(equals('a', 'a'), 'yes', 'no')": "yes", "if(equals('a', 'b'), 'yes', 'no')": "no"},
    "indexof": {"indexOf('test', 't')": 0, "indexOf('abcdef', 'CD')": 2, "indexOf('abcdef', 'z')": -1, "indexOf(createArray('one', 2, 'three'), 2)": 1},
    "int": {"int('4')": 4, "int(4)": 4},
    "intersection": {"intersection(variables('object'), createObject('one', 'a', 'two', 'z', 'three', 'c'))": {"one": "a", "three": "c"}, "intersection(variables('list'), createArray('two', 'three'))": ["two", "three"]},
    "items": {"items(createObject('b', 2, 'a', 1))": [{"key": "a", "value": 1}, {"key": "b", "value": 2}]},
    "join": {"join(variables('list'), ';')": "one;two;three"},
    "json": {"json('{\"a\": \"b\"}')": {"a": "b"}, "json('[1, 2, 3]')[1]": 2, "json('null')": None},
    "lambda": {"map(createArray('a', 'b'), lambda('x', 'i', format('{0}{1}', lambdaVariables('x'), lambdaVariables('i'))))": ["a0", "b1"]},
    "lambdavariables": {"map(range(0, 2), lambda('i', mul(lambdaVariables('i'), 10)))": [0, 10]},
    "last": {"last(variables('list'))": "three", "last('One Two Three')": "e"},
    "lastindexof": {"lastIndexOf('test', 't')": 3, "lastIndexOf('abcdef', 'AB')": 0, "lastIndexOf('abcdef', 'z')": -1},
    "length": {"length(variables('list'))": 3, "length('One Two Three')": 13, "length(variables('object'))": 3},
    "less": {"less(5, 3)": False, "less('A', 'a')": True},
    "lessorequals": {"lessOrEquals(3, 3)": True},
    "managementgroupresourceid": {"managementGroupResourceId('Microsoft.Management/managementGroups', 'm')": "/providers/Microsoft.Management/managementGroups/m"},
    "map": {"map(variables('dogs'), lambda('dog', lambdaVariables('dog').name))": ["Evie", "Casper", "Indy", "Kira"]},
    "mapvalues": {"mapValues(createObject('a', 'x'), lambda('v', toUpper(lambdaVariables('v'))))": {"a": "X"}},
    "max": {"max(0, 3, 2, 5, 4)": 5, "max(createArray(0, 3, 2, 5, 4))": 5},
    "min": {"min(0, 3, 2, 5, 4)": 0, "min(createArray(0, 3, 2, 5, 4))": 0},
    "mod": {"mod(7, 3)": 1, "mod(-7, 3)": -1},
    "mul": {"mul(5, 3)": 15},
    "not": {"not(true())": False},
    "null": {"null()": None},
    "objectkeys": {"objectKeys(createObject('a', 1, 'b', 2))": ["a", "b"]},
    "or": {"or(bool('true'), bool('false'))": True, "or(false(), false())": False},
    "padleft": {"padLeft('123', 10, '0')": "0000000123", "padLeft(5, 2)": " 5"},
    "parameters": {"parameters('immediateRetries')": 5, "parameters('IMMEDIATERETRIES')": 5},
    "range": {"range(5, 3)": [5, 6, 7]},
    "reduce": {"reduce(map(variables('dogs'), lambda('d', lambdaVariables('d').age)), 0, lambda('sum', 'next', add(lambdaVariables('sum'), lambdaVariables('next'))))": 18},
    "replace": {"replace('123-123-1234', '-', '')": "1231231234", "replace('123-123-1234', '1234', 'xxxx')": "123-123-xxxx"},
    "resourceid": {
        "resourceId('Microsoft.Storage/storageAccounts', 's')": "/providers/Microsoft.Storage/storageAccounts/s",
        "resourceId('rg', 'Microsoft.SQL/servers/databases', 'srv', 'db')": "/providers/Microsoft.SQL/servers/srv/databases/db",
    },
    "shallowmerge": {"shallowMerge(createArray(createObject('one', 'a', 'in', createObject('x', 1)), createObject('in', createObject('y', 2))))": {"one": "a", "in": {"y": 2}}},
    "skip": {"skip(variables('list'), 2)": ["three"], "skip('one two three', 4)": "two three"},
    "sort": {"map(sort(variables('dogs'), lambda('a', 'b', less(lambdaVariables('a').age, lambdaVariables('b').age))), lambda('d', lambdaVariables('d').name))": ["Indy", "Casper", "Evie", "Kira"]},
    "split": {"split('one,two,three', ',')": ["one", "two", "three"], "split('one;two,three', createArray(',', ';'))": ["one", "two", "three"]},
    "startswith": {"startsWith('abcdef', 'ab')": True, "startsWith('abcdef', 'A')": True, "startsWith('abcdef', 'e')": False},
    "string": {"string(5)": "5", "string(createArray('a', 'b'))": '["a","b"]', "string(createObject('a', 1))": '{"a":1}', "string(true())": "True"},
    "sub": {"sub(7, 3)": 4},
    "subscriptionresourceid": {"subscriptionResourceId('Microsoft.Authorization/roleDefinitions', 'r')": "/providers/Microsoft.Authorization/roleDefinitions/r"},
    "substring": {"substring('one two three', 4, 3)": "two", "substring('one two', 4)": "two"},
    "take": {"take(variables('list'), 2)": ["one", "two"], "take('one two three', 2)": "on", "take('a', 9)": "a"},
    "tenantresourceid": {"tenantResourceId('Microsoft.Authorization/roleDefinitions', 'r')": "/providers/Microsoft.Authorization/roleDefinitions/r"},
    "tolower": {"toLower('One Two')": "one two"},
    "toobject": {"toObject(createArray('a', 'b'), lambda('k', lambdaVariables('k')))": {"a": "a", "b": "b"}, "toObject(variables('dogs'), lambda('d', lambdaVariables('d').name), lambda('d', lambdaVariables('d').age))": {"Evie": 5, "Casper": 3, "Indy": 2, "Kira": 8}},
    "toupper": {"toUpper('One Two')": "ONE TWO"},
    "trim": {"trim('    one two three   ')": "one two three"},
    "true": {"true()": True},
    "tryget": {"tryGet(variables('object'), 'two')": "b", "tryGet(variables('object'), 'four', 'five')": None, "tryGet(variables('list'), 3)": None},
    "tryindexfromend": {"tryIndexFromEnd(variables('list'), 1)": "three", "tryIndexFromEnd(variables('list'), 4)": None},
    "union": {"union(variables('object'), createObject('three', 'c2', 'four', 'd'))": {"one": "a", "two": "b", "three": "c2", "four": "d"}, "union(variables('list'), createArray('three', 'four'))": ["one", "two", "three", "four"], "union(createObject('in', createObject('x', 1)), createObject('in', createObject('y', 2)))": {"in": {"x": 1, "y": 2}}},
    "uri": {"uri('http://contoso.org/firstpath/', 'myscript.sh')": "http://contoso.org/firstpath/myscript.sh"},
    "uricomponent": {"uriComponent('http://contoso.com/a.json')": "http%3A%2F%2Fcontoso.com%2Fa.json"},
    "uricomponenttostring": {"uriComponentToString('http%3A%2F%2Fcontoso.com%2Fa.json')": "http://contoso.com/a.json"},
    "variables": {"variables('object').TWO": "b", "variables('list')[1]": "two", "variables('dogs')[0]['name']": "Evie"},
    "of the template itself": {"contoso.uniqueName('Shop')": "shop-x"},
    "texts": {"'it''s'": "it's", "concat('[', ']')": "[]"},
}  # fmt: skip
EXPRESSIONS = [(text, result) for each in RESULTS.values() for text, result in each.items()]

NOT_KNOWN = {
    "uniqueString('a')": "uniqueString(a)", "resourceGroup().location": "resourceGroup().location",
    "reference(resourceId('a.b/c', 'd')).key": "/providers/a.b/c/d.key", "listKeys('x', '1').value": "listkeys(x, 1).value",
    "take(uniqueString('a'), 3)": "take(uniqueString(a), 3)", "format('{0}', subscription().id)": "subscription().id",
}  # fmt: skip
REFUSED = ["div(1, 0)", "variables('nowhere')", "variables('object').four", "int('x')", "fail('no')", "newThing()", "concat(", "'a' 'b'", "copyIndex()", "format('{0:X}', 1)", "if(empty(subscription().id), 1, 2)"]  # fmt: skip


def worked_out(expression: str) -> Any:
    parameters = {"immediateRetries": {"type": "int", "defaultValue": 5}}
    return value(f"[{expression}]", ArmScope({**OBJECTS, "parameters": parameters}))


def test_each_function_has_a_result_of_the_reference() -> None:
    assert (FUNCTIONS.keys() | SPECIAL.keys()) - RESULTS.keys() == {"reference", "references"}  # see the modules
    assert not IN_AZURE.keys() & FUNCTIONS.keys()


@pytest.mark.parametrize(("expression", "result"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_an_expression_has_the_value_that_azure_gives_it(expression: str, result: Any) -> None:
    found = worked_out(expression)

    assert (found, type(found)) == (result, type(result))


@pytest.mark.parametrize("expression", NOT_KNOWN)
def test_what_azure_alone_knows_says_what_it_is(expression: str) -> None:
    assert str(worked_out(expression)) == f"<{NOT_KNOWN[expression]}>"


@pytest.mark.parametrize("expression", REFUSED)
def test_an_expression_without_a_value_says_why(expression: str) -> None:
    found = worked_out(expression)

    assert isinstance(found, Later)
    assert found.why


SNAPSHOTS: dict[str, tuple[dict[str, str], int]] = {
    "as it stands": ({}, 25),
    "Premium": ({"serviceBusTier": "Premium"}, 25),
    "a rate limit": ({"rateLimitAfter": "50"}, 29),
    "no topic": ({"topicName": ""}, 23),
}


@pytest.mark.parametrize("form", SNAPSHOTS)
def test_as_many_resources_are_deployed_as_the_compiler_predicts(form: str) -> None:
    given, count = SNAPSHOTS[form]
    template = parse_template((COMPILED / "main.json").read_text(encoding="utf-8"))

    found, parts = resources_of(ArmScope(template, typed(template["parameters"], given)))

    assert (len(found), parts) == (count, ())


@pytest.mark.filterwarnings("default::UserWarning")
def test_the_compiled_templates_are_of_these_sources() -> None:
    if hashes() != json.loads(HASHES.read_text(encoding="utf-8")):
        warnings.warn("infra/azure has changed since it was compiled: run `make bicep`", UserWarning, stacklevel=1)


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


@pytest.mark.parametrize("name", ["main", "queue"])
def test_no_version_of_an_api_is_older_than_two_years_where_there_is_a_newer_one(name: str) -> None:
    resources = json.loads((COMPILED / f"{name}.json").read_text(encoding="utf-8"))["resources"]
    found = Counter(("/".join(each["type"].split("/")[:2]), each["apiVersion"]) for each in resources)

    assert [each for each in found if NEWEST[each[0]] != each[1]] == []
