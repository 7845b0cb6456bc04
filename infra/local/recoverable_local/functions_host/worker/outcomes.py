"""How one invocation of a function can end, frozen."""

from __future__ import annotations

from dataclasses import dataclass, field

from recoverable_local.functions_host.worker.rpc import Typed
from recoverable_local.outcomes import Died, TimedOut


@dataclass(frozen=True, slots=True)
class Returned:
    """The function returned.

    Args:
        outputs: What it gave its output bindings, by their names.
    """

    outputs: tuple[tuple[str, Typed], ...] = ()


@dataclass(frozen=True, slots=True)
class Raised:
    """The function raised, or was not given what it takes.

    Args:
        message: The exception's type and text.
        stack_trace: Where, as Python prints it.
    """

    message: str
    stack_trace: str = field(default="", repr=False)


Outcome = Returned | Raised | TimedOut | Died


def describe(outcome: Outcome) -> str:
    """One line."""
    match outcome:
        case Returned():
            return "returned"
        case Raised(message):
            return message
        case TimedOut(after):
            return f"timed out after {after.total_seconds():g} s"
        case Died():
            return f"the worker process ended with {outcome.cause}"
