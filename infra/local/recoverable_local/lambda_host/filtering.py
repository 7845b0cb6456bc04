"""Decide which messages pass the filters of an event source mapping. Pure.

The rules are Lambda's, from "Using event filtering with an Amazon SQS event source": what passes no filter is deleted; so is a message
whose body is a text where the pattern is for JSON, and the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recoverable_local.lambda_host.records import Record


def passes(record: Record, filters: Sequence[Mapping[str, Any]]) -> bool:
    """True if a record passes one of the filters, or if there are none."""
    return not filters or any(_matches(str(record["body"]), pattern) for pattern in filters)


def _matches(text: str, pattern: Mapping[str, Any]) -> bool:
    from moto.events.models import EventPattern  # takes half a second to import, and few templates have a filter

    body = _parsed(text)
    wanted = pattern.get("body")
    if wanted is not None and isinstance(wanted, dict) != isinstance(body, dict):
        return False
    event: Any = {"body": body}
    return bool(EventPattern(None, dict(pattern)).matches_event(event))


def _parsed(text: str) -> Any:
    """Return the object that a body holds as JSON, or else the body itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
