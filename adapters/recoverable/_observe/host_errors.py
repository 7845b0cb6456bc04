"""Make the exceptions that a host gets to see, where a redactor is set: with its text, without cause or traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from recoverable._ladder.faults import message_of, type_name
from recoverable._ladder.redaction import redacted

if TYPE_CHECKING:
    from recoverable._ladder.redaction import Redact

    Interruption: TypeAlias = KeyboardInterrupt | SystemExit


class RedactedFailure(Exception):
    """Raised to the host in place of an exception whose text the redactor may change; the text begins with that one's type."""


def failure_for_host(error: Exception, redact: Redact | None) -> Exception:
    """Return what is raised to the host instead of an exception; the exception itself where there is no redactor."""
    if redact is None:
        return error
    return RedactedFailure(f"{type_name(error)}: {redacted(message_of(error), redact)}")


def interruption_for_host(error: Interruption, redact: Redact | None) -> Interruption:
    """Return what is raised to the host instead of an interruption: one of its kind, with an exit code or the redacted text."""
    if redact is None:
        return error
    text = redacted(message_of(error), redact)
    match error:
        case SystemExit(code=int() | None as code):
            return SystemExit(code)
        case SystemExit():
            return SystemExit(text)
        case _:
            return KeyboardInterrupt(text)
