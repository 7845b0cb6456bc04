"""Define how one invocation of a function can end. `responses` decides what that means for the messages."""

from __future__ import annotations

from dataclasses import dataclass

from recoverable_local.outcomes import Died, TimedOut


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler returned; `payload` is its response as JSON text."""

    payload: str


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised; the instance takes further invocations."""

    error_type: str
    message: str


@dataclass(frozen=True, slots=True)
class InitFailed:
    """The module could not be loaded, so the handler never ran."""

    error_type: str
    message: str


Outcome = Returned | Raised | InitFailed | TimedOut | Died


def describe(outcome: Outcome) -> str:
    """Describe an outcome in one line, in the words of Lambda's log."""
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
