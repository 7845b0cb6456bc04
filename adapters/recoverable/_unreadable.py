"""Find out whether an error of a parser is about the body, and say why and where a message cannot be read, without quoting it."""

from __future__ import annotations

import json
import re
import sys

from recoverable._errors import MessageDeserializationError, RetryAfter

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    Retried: TypeAlias = type[BaseException] | tuple[type[BaseException], ...]

MOST_PLACES = 3
"""Fields of a model that are named at most."""

NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
"""Names of fields that are shown; a key that looks otherwise, such as an address, may be the sender's data."""


NOT_OF_THE_BODY = (RetryAfter, MemoryError, ImportError)
"""Exceptions that say nothing of a body; errors of the system, and answers of a service, are found by what they have."""


def is_about_body(error: Exception, retried: Retried) -> bool:
    """True unless what a parser raised is about its surroundings, so that the message is retried.

    Args:
        error: the error; a group is about the body if each exception in it is.
        retried: further types that are not about it.
    """
    for each in linked(error, members):
        if isinstance(each, (NOT_OF_THE_BODY, retried)) or has_answer(each):
            return False
    # clients of networks chain the error of the system, or have it among their arguments
    return not any(map(is_of_the_system, linked(error, lambda each: (*members(each), *chained(each)))))


def linked(
    error: BaseException, following: Callable[[BaseException], Sequence[BaseException]]
) -> Iterator[BaseException]:
    """Yield the error and those that follow from it, each once."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += reversed(following(each))


def members(error: BaseException) -> tuple[BaseException, ...]:
    """Return the exceptions in a group; none of any other error."""
    return error.exceptions if isinstance(error, BaseExceptionGroup) else ()


def chained(error: BaseException) -> list[BaseException]:
    """Return the error's cause and context, and the exceptions among its arguments."""
    return [each for each in (error.__cause__, error.__context__, *error.args) if isinstance(each, BaseException)]


def has_answer(error: BaseException) -> bool:
    """True if the error holds what a service has answered."""
    return any(getattr(error, name, None) is not None for name in ("response", "status_code"))


def is_of_the_system(error: BaseException) -> bool:
    """True if the error is of the operating system or the network: `bz2` raises a plain OSError for its data, and `gzip` one of its own."""
    if not isinstance(error, OSError) or isinstance(error, getattr(sys.modules.get("gzip"), "BadGzipFile", ())):
        return False
    return type(error) is not OSError or error.errno is not None


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
