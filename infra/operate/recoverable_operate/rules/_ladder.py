"""Read from a function's environment variables how often it tries a message, and find what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recoverable import Recoverability
from recoverable._variables import Variables, read_parts
from recoverable_operate.rules._rule import Problem, Unknown

PREFIX = "RECOVERABLE_"
NAMES = ("ENABLED", "IMMEDIATE_RETRIES", "DELAYED_RETRIES", "TIME_INCREASE", "ERROR_QUEUE", "RATE_LIMIT_AFTER")
"""The variables of `Recoverability.from_environment`, without their prefix."""

OTHERS = ("VISIBILITY_TIMEOUT", "LOCK_DURATION")
"""Variables with this prefix that have a meaning of their own."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """How often a message is tried.

    Args:
        immediate: retries without delay in each round.
        delayed: rounds that start after a delay.
        said: True if the function's environment or the command line says so; else these are the defaults.
        ordered: True if each attempt of each round is a delivery, as with `sessions="ordered"`; FIFO queues say so themselves.
    """

    immediate: int = 5
    delayed: int = 3
    said: bool = False
    ordered: bool = False

    @property
    def attempts(self) -> int:
        """Return how often a message that keeps failing is attempted."""
        return (self.immediate + 1) * (self.delayed + 1)

    def __str__(self) -> str:
        if not self.said:
            return f"the default ladder ({self.immediate} immediate and {self.delayed} delayed retries; where the code says otherwise, give --immediate-retries and --delayed-retries)"
        return f"a ladder of {self.immediate} immediate and {self.delayed} delayed retries"


DEFAULT = Ladder()


def ladder_of(variables: Mapping[str, str | Unknown]) -> Ladder | Unknown:
    """Return the ladder that environment variables say; the default one where they say nothing."""
    ours = {name: variables[PREFIX + name] for name in NAMES[:3] if PREFIX + name in variables}
    for value in ours.values():
        if isinstance(value, Unknown):
            return value
    said = {PREFIX + name: value for name, value in ours.items() if isinstance(value, str) and value.strip()}
    try:
        parts = read_parts(Recoverability(), Variables(PREFIX, said))
    except ValueError as error:
        return Unknown(str(error))
    return Ladder(parts["immediate"].max_retries, parts["delayed"].max_retries, said=bool(said))


def mistakes(variables: Mapping[str, str | Unknown]) -> Iterator[str]:
    """Yield what `Recoverability.from_environment` would refuse, each alone and then all together."""
    said = {name: value for name, value in variables.items() if name.startswith(PREFIX) and isinstance(value, str)}
    texts = [refusal({name: value}) for name, value in said.items()]
    yield from (text for text in dict.fromkeys([*texts, "" if any(texts) else refusal(said)]) if text)


def refusal(variables: Mapping[str, str]) -> str:
    """Return why these variables cannot be read; an empty text when they can."""
    try:
        read_parts(Recoverability(), Variables(PREFIX, variables))
    except ValueError as error:
        return str(error)
    return ""


def strangers(variables: Mapping[str, str | Unknown]) -> Iterator[str]:
    """Yield the names that begin like ours and are none that this package reads."""
    ours = {PREFIX + name for name in (*NAMES, *OTHERS)}
    yield from (name for name in variables if name.startswith(PREFIX) and name not in ours)


def variable_problems(name: str, variables: Mapping[str, str | Unknown]) -> Iterator[Problem]:
    """Yield what is wrong with the variables of a function or an app."""
    for text in mistakes(variables):
        wrong, _, write = text.partition("; ")
        yield Problem(name, wrong, f"{name} does not start where it reads its settings from the environment", write)
    for stranger in strangers(variables):
        yield Problem(
            name,
            f"{name} has a variable {stranger}, which this package does not read",
            "what it is to set has its default",
            "write one of the names in docs/the-ladder.md#settings-from-environment-variables",
        )
