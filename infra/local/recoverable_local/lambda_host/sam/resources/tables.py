"""Parse `AWS::DynamoDB::Table` into a Table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recoverable_local.lambda_host.sam.stack import Table
from recoverable_operate.templates import Properties, TemplateError

TABLE = "AWS::DynamoDB::Table"
_KEYS = ("AttributeDefinitions", "KeySchema")
_INDEXES = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
_CAPACITY = {"ContributorInsightsSpecification", "OnDemandThroughput", "ProvisionedThroughput", "WarmThroughput"}


def parse_table(properties: Properties) -> Table:
    """Parse one table: its keys and indexes. Settings of capacity, backups or time to live have no effect here.

    Raises:
        TemplateError: The keys are missing, or not a list of mappings.
    """
    lists = {name: _list(properties, name) for name in _KEYS}
    lists |= {
        name: [_without_capacity(index) for index in _list(properties, name)]
        for name in _INDEXES
        if properties.get(name)
    }
    return Table(properties.where, _name(properties), lists)


def _name(properties: Properties) -> str:
    """Return the table's name: its `TableName`, or stack name and logical id if the template sets none."""
    default = f"{properties.scope.parameters['AWS::StackName']}-{properties.where}"
    return properties.text("TableName", default)


def _list(properties: Properties, name: str) -> list[Any]:
    value = properties.get(name)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TemplateError(f"{properties.where}.{name} is {value!r}; it must be a list of mappings.")
    return value


def _without_capacity(index: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in index.items() if name not in _CAPACITY}
