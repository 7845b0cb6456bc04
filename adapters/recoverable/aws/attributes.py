"""What SQS takes as an attribute of a message: a copy with anything else would be refused whole."""

from __future__ import annotations

import re
from base64 import b64decode

NAME = re.compile(r"(?!(?:aws|amazon)\.)(?!\.)(?!.*\.\.)(?!.*\.\Z)[A-Za-z0-9_.-]{1,256}", re.IGNORECASE)
"""Names that are not reserved (Amazon SQS message attributes)."""

KIND = re.compile(r"(String|Number|Binary)(\.[A-Za-z0-9_.-]+)?")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

LONGEST_KIND = 256
"""Characters of a data type with its label (Amazon SQS message attributes)."""

TEXT = re.compile(r"[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")
"""Characters that a message may hold (SendMessage)."""


def is_attribute(name: str, value: object) -> bool:
    """Whether SQS takes it as an attribute.

    Args:
        name: its name.
        value: its type and content as Lambda writes them.
    """
    if not NAME.fullmatch(name) or not isinstance(value, dict):
        return False
    kind, text = value.get("dataType"), value.get("stringValue")
    if not isinstance(kind, str) or len(kind) > LONGEST_KIND or not KIND.fullmatch(kind):
        return False
    if kind.startswith("Binary"):
        return is_base64(value.get("binaryValue"))
    if not isinstance(text, str) or not TEXT.fullmatch(text):
        return False
    return kind.startswith("String") or NUMBER.fullmatch(text) is not None


def is_base64(value: object) -> bool:
    """Whether it is some bytes in base64."""
    try:
        return isinstance(value, str) and b64decode(value, validate=True) != b""
    except ValueError:
        return False
