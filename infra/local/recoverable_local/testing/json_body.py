"""Encode the body that a test sends as JSON."""

from __future__ import annotations

import json


def to_json(body: object) -> str:
    """Encode a body as JSON.

    Raises:
        TypeError: JSON cannot say it; tells what to write instead.
    """
    try:
        return json.dumps(body)
    except TypeError as error:
        raise TypeError(
            f"send(body) is a {type(body).__name__}: {error}; write a text, or what json.dumps takes"
        ) from error
