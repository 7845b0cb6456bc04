"""`AWS::DynamoDB::Table` in a template → a frozen Table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recoverable_local.lambda_host.sam.document import TemplateError
from recoverable_local.lambda_host.sam.properties import Properties
from recoverable_local.lambda_host.sam.stack import Table

TABLE = "AWS::DynamoDB::Table"
_KEYS = ("AttributeDefinitions", "KeySchema")
_INDEXES = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
_CAPACITY = {"ContributorInsightsSpecification", "OnDemandThroughput", "ProvisionedThroughput", "WarmThroughput"}


def read_table(properties: Properties) -> Table:
    """Read one table: its keys and indexes. What is about capacity, backups or the end of rows has no effect here.

    Raises:
        TemplateError: It has no keys, or they are no list.
    """
    lists = {name: _list(properties, name) for name in _KEYS}
    lists |= {
        name: [_without_capacity(index) for index in _list(properties, name)]
        for name in _INDEXES
        if properties.get(name)
    }
    return Table(properties.where, _name(properties), lists)


def _name(properties: Properties) -> str:
    """Made of the stack's and its own when the template leaves it to CloudFormation."""
    made = f"{properties.scope.parameters['AWS::StackName']}-{properties.where}"
    return properties.text("TableName", made)


def _list(properties: Properties, name: str) -> list[Any]:
    value = properties.get(name)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TemplateError(f"{properties.where}.{name} is {value!r}; it must be a list of mappings.")
    return value


def _without_capacity(index: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in index.items() if name not in _CAPACITY}
