"""Check lines against CloudWatch's "Specification: Embedded metric format": its JSON schema, and the rules that no schema can say."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

NAME = {"type": "string", "minLength": 1, "maxLength": 255}
RATES = (
    "Bytes",
    "Kilobytes",
    "Megabytes",
    "Gigabytes",
    "Terabytes",
    "Bits",
    "Kilobits",
    "Megabits",
    "Gigabits",
    "Terabits",
    "Count",
)
UNITS = ["Seconds", "Microseconds", "Milliseconds", "Percent", "None", *RATES, *(f"{unit}/Second" for unit in RATES)]

METRIC = {"type": "object", "required": ["Name"], "properties": {"Name": NAME, "Unit": {"enum": UNITS}}}
DIMENSION_SET = {"type": "array", "maxItems": 9, "items": NAME}
DIRECTIVE = {
    "type": "object",
    "required": ["Namespace", "Dimensions", "Metrics"],
    "properties": {
        "Namespace": NAME,
        "Dimensions": {"type": "array", "minItems": 1, "items": DIMENSION_SET},
        "Metrics": {"type": "array", "maxItems": 100, "items": METRIC},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["_aws"],
    "properties": {
        "_aws": {
            "type": "object",
            "required": ["Timestamp", "CloudWatchMetrics"],
            "properties": {
                "Timestamp": {"type": "integer"},
                "CloudWatchMetrics": {"type": "array", "items": DIRECTIVE},
            },
        }
    },
}
LARGEST = 256 * 1024
"""Bytes of a document."""


def checked(line: str) -> dict[str, Any]:
    """Return the line parsed, after checking that CloudWatch takes it.

    Raises:
        jsonschema.ValidationError, AssertionError: CloudWatch does not.
    """
    assert len(line.encode()) <= LARGEST
    document: dict[str, Any] = json.loads(line)
    jsonschema.validate(document, SCHEMA)
    for directive in document["_aws"]["CloudWatchMetrics"]:
        targets = [document[metric["Name"]] for metric in directive["Metrics"]]
        assert all(isinstance(value, int | float) and not isinstance(value, bool) for value in targets), targets
        dimensions = [document[name] for names in directive["Dimensions"] for name in names]
        assert all(isinstance(value, str) and value for value in dimensions), dimensions
    return document


def values(document: dict[str, Any]) -> dict[str, float]:
    """Return the metrics of a document and their values."""
    (directive,) = document["_aws"]["CloudWatchMetrics"]
    return {metric["Name"]: document[metric["Name"]] for metric in directive["Metrics"]}
