"""Keep apart what is known of a deployment and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for a value that could not be read; `why` says why, in one sentence without a full stop."""

    why: str


class NotUnderstood(Exception):
    """Raised in a rule that needs a value that could not be read; its text says why it could not."""


def known(value: T | Unknown) -> T:
    """Return the value.

    Raises:
        NotUnderstood: it could not be read.
    """
    if isinstance(value, Unknown):
        raise NotUnderstood(value.why)
    return value
