"""Read from a function's environment variables how often it tries a message, and find what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from recoverable import Delayed, Immediate, Recoverability
from recoverable._variables import Variables, read_parts
from recoverable_operate.rules._rule import NotUnderstood, Problem, Unknown

PREFIX = "RECOVERABLE_"
NAMES = ("ENABLED", "IMMEDIATE_RETRIES", "DELAYED_RETRIES", "TIME_INCREASE", "ERROR_QUEUE", "RATE_LIMIT_AFTER")
"""The variables of `Recoverability.from_environment`, without their prefix."""

LADDER_NAMES = NAMES[:4]
"""Those that set the ladder."""

OTHERS = ("FACTS_FILE", "LOCK_DURATION", "REDELIVER_AFTER")
"""Variables with this prefix that have a meaning of their own."""


ASSUMED = "the code does not say the ladder where it could be read, so the default one was taken; give --immediate-retries and --delayed-retries"


@dataclass(frozen=True, slots=True)
class Ladder:
    """How often a message is tried, and how long it waits.

    Args:
        immediate: retries without delay in each round.
        delayed: rounds that start after a delay.
        said: True if code, environment or command line say so; False if none of them could be read, and these are the defaults.
        where: file and line of the code that makes it; empty where no code does.
        ordered: True if each attempt of each round is a delivery, as with `sessions="ordered"`; FIFO queues say so themselves.
    """

    immediate: Immediate = Immediate()  # noqa: RUF009  # frozen, as Delayed is
    delayed: Delayed = Delayed()  # noqa: RUF009
    said: bool = False
    ordered: bool = False
    where: str = ""

    @property
    def attempts(self) -> int:
        """Return how often a message that keeps failing is attempted."""
        return (self.immediate.max_retries + 1) * (self.delayed.max_retries + 1)

    @property
    def delays(self) -> list[timedelta]:
        """Return each delay; jitter only makes them shorter."""
        backoff, increase = self.delayed.backoff, self.delayed.time_increase
        return [backoff(made) if backoff else increase * (made + 1) for made in range(self.delayed.max_retries)]

    def __str__(self) -> str:
        numbers = f"{self.immediate.max_retries} immediate and {self.delayed.max_retries} delayed retries"
        if not self.said:
            return f"the default ladder ({numbers}; where the code says otherwise, give --immediate-retries and --delayed-retries)"
        return f"a ladder of {numbers}" + (f", which {self.where} makes" if self.where else "")

    def be_sure(self) -> None:
        """Go on only if somebody said this ladder: that nothing is found on an assumed one says nothing.

        Raises:
            NotUnderstood: it was assumed.
        """
        if not self.said:
            raise NotUnderstood(ASSUMED)


DEFAULT = Ladder()


def ladder_of(variables: Mapping[str, str | Unknown]) -> Ladder | Unknown:
    """Return the ladder that environment variables say; the default one, as an assumption, where they say nothing."""
    ours = {PREFIX + name: variables[PREFIX + name] for name in LADDER_NAMES if PREFIX + name in variables}
    for value in ours.values():
        if isinstance(value, Unknown):
            return value
    said = {name: value for name, value in ours.items() if isinstance(value, str) and value.strip()}
    try:
        parts = read_parts(Recoverability(), Variables(PREFIX, said))
    except ValueError as error:
        return Unknown(str(error))
    return Ladder(parts["immediate"], parts["delayed"], said=bool(said))


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
            "write one of the names in docs/use/retries.md#settings-from-environment-variables",
        )
