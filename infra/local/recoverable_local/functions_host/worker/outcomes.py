"""Define how one invocation of a function can end."""

from __future__ import annotations

from dataclasses import dataclass, field

from recoverable_local.functions_host.worker.rpc import Typed
from recoverable_local.outcomes import Died, TimedOut


@dataclass(frozen=True, slots=True)
class Returned:
    """The function returned.

    Args:
        outputs: The values of its output bindings, with their names.
    """

    outputs: tuple[tuple[str, Typed], ...] = ()


@dataclass(frozen=True, slots=True)
class Raised:
    """The function raised, or could not be called with the message.

    Args:
        message: The exception's type and text.
        stack_trace: The traceback as Python prints it.
    """

    message: str
    stack_trace: str = field(default="", repr=False)


Outcome = Returned | Raised | TimedOut | Died


def describe(outcome: Outcome) -> str:
    """Describe an outcome in one line."""
    match outcome:
        case Returned():
            return "returned"
        case Raised(message):
            return message
        case TimedOut(after):
            return f"timed out after {after.total_seconds():g} s"
        case Died():
            return f"the worker process ended with {outcome.cause}"
