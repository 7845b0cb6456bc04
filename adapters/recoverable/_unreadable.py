"""Say why and where a message cannot be read, without quoting its body."""

from __future__ import annotations

import json
import re

from recoverable._errors import MessageDeserializationError

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST_PLACES = 3
"""Fields of a model that are named at most."""

NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
"""Names of fields that are shown; a key that looks otherwise, such as an address, may be the sender's data."""


def unreadable(message_id: str, error: Exception) -> MessageDeserializationError:
    """Return the error that says why and where a message cannot be read; it does not quote the body."""
    return MessageDeserializationError(
        f"message '{message_id}' cannot be read: {type(error).__name__}{place_of(error)}"
    )


def place_of(error: Exception) -> str:
    """Return where an error says that a body cannot be read, as the end of a sentence; nothing when it does not say.

    Args:
        error: of `json` (line and column), of pydantic (path and code of each field), or of a codec (byte).
    """
    if isinstance(error, json.JSONDecodeError):
        return f" at line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f" at byte {error.start}"
    errors = getattr(error, "errors", None)
    return places_in(errors) if callable(errors) else ""


def places_in(errors: Callable[..., Any]) -> str:
    """Return the fields that a model's error is about; nothing when they cannot be read."""
    try:
        found = errors(include_url=False, include_context=False, include_input=False)
        fields = [f"{path_of(each['loc'])} ({each['type']})" for each in found[:MOST_PLACES]]
    except Exception:  # noqa: BLE001  # an error of another library, or of the user's; its type is said all the same
        return ""
    more = f" and {len(found) - MOST_PLACES} more" if len(found) > MOST_PLACES else ""
    return f" at {', '.join(fields)}{more}" if fields else ""


def path_of(parts: tuple[object, ...]) -> str:
    """Return the path of a field, with a star for each key that may be data."""
    shown = [
        str(part) if isinstance(part, int) or (isinstance(part, str) and re.fullmatch(NAME, part)) else "*"
        for part in parts
    ]
    return ".".join(shown) or "the whole"
