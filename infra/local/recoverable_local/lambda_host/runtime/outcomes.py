"""How one invocation of a function can end, frozen; what it means for the messages is said in `responses`."""

from __future__ import annotations

from dataclasses import dataclass

from recoverable_local.outcomes import Died, TimedOut


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler returned; `payload` is its answer as JSON text."""

    payload: str


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised; the instance lives on."""

    error_type: str
    message: str


@dataclass(frozen=True, slots=True)
class InitFailed:
    """The module could not be loaded, so the handler never ran."""

    error_type: str
    message: str


Outcome = Returned | Raised | InitFailed | TimedOut | Died


def describe(outcome: Outcome) -> str:
    """One line in the words that Lambda uses in its log."""
    match outcome:
        case Returned():
            return "returned"
        case Raised(error_type, message):
            return f"{error_type}: {message}"
        case InitFailed(error_type, message):
            return f"could not be loaded, {error_type}: {message}"
        case TimedOut(after):
            return f"Task timed out after {after.total_seconds():.2f} seconds"
        case Died():
            return f"Runtime.ExitError: the process ended by itself with {outcome.cause}"
