"""Pass texts through the user's redactor before they reach a log, a header, a span or the host.

It fails closed: where the redactor raises or returns no text, the text is left out.
"""

from __future__ import annotations

from collections.abc import Callable

from recoverable._config import Recoverability

Redact = Callable[[str], str]
"""A function from a text to the text without what nobody may read."""

LEFT_OUT = "(left out: Observe(redact) {})"


def redactor_of(recoverability: Recoverability) -> Redact | None:
    """Return the user's redactor; None when there is none."""
    return None if recoverability.observe is None else recoverability.observe.redact


def redacted(text: str, redact: Redact | None) -> str:
    """Return the text as it may be shown: as it is without a redactor, else what the redactor returns.

    Args:
        text: the whole text; a text that was cut first may hold the half of a secret, which no pattern matches.
        redact: the user's redactor.
    """
    if redact is None:
        return text
    try:
        shown: object = redact(text)
    except Exception as error:  # noqa: BLE001  # the text says so itself, and stays out
        return LEFT_OUT.format(f"raised {type(error).__name__}")
    return shown if isinstance(shown, str) else LEFT_OUT.format(f"returned a {type(shown).__name__}")
