"""Parse the `FilterCriteria` of an event source mapping into the patterns of its filters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recoverable_operate.templates import Properties, TemplateError

_MOST_FILTERS = 10  # Lambda, "Control which events Lambda sends to your function"; more than five by a raised quota
_KEY = "body"


def parse_filters(properties: Properties) -> tuple[Mapping[str, Any], ...]:
    """Parse the filters of one mapping; none if it has no criteria.

    Raises:
        TemplateError: AWS would refuse them, or they look at something else than the body, which SQS filters cannot.
    """
    criteria = properties.part("FilterCriteria")
    filters = criteria.get("Filters", [])
    if not isinstance(filters, list) or len(filters) > _MOST_FILTERS:
        raise TemplateError(f"{criteria.where}.Filters is {filters!r:.80}; AWS takes a list of up to {_MOST_FILTERS}.")
    return tuple(_pattern(criteria.where, each) for each in filters)


def _pattern(where: str, one: Any) -> Mapping[str, Any]:
    try:
        pattern = json.loads(one["Pattern"])
    except (TypeError, KeyError, ValueError) as error:
        raise TemplateError(
            f"{where}: {one!r:.80} is no filter ({error}); write a mapping whose Pattern is JSON in a text."
        ) from error
    if not isinstance(pattern, dict) or set(pattern) - {_KEY}:
        raise TemplateError(
            f"{where}: {pattern!r:.80} does not filter by {_KEY}, and filters of SQS can do nothing else."
        )
    return pattern
