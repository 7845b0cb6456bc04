"""Import the public names that most functions need late or never, when one of them is first used."""

from __future__ import annotations

ACTIONS = ("Action", "DelayedRetry", "Discard", "ImmediateRetry", "MoveToError")


def imported(name: str) -> object:  # noqa: PLR0911  # one for each
    """Return what a public name stands for; None when it is none of these."""
    if name in ACTIONS:
        from recoverable._ladder import actions  # noqa: PLC0415

        return getattr(actions, name)
    match name:
        case "Exponential":
            from recoverable._ladder.backoff import Exponential  # noqa: PLC0415

            return Exponential
        case "Facts" | "Observe":
            from recoverable._observe import facts, settings  # noqa: PLC0415

            return facts.Facts if name == "Facts" else settings.Observe
        case "RateLimit":
            from recoverable._rate_limit.settings import RateLimit  # noqa: PLC0415

            return RateLimit
        case "OutgoingRefused":
            from recoverable._outgoing.message import OutgoingRefused  # noqa: PLC0415

            return OutgoingRefused
        case "ErrorContext" | "Policy" | "default_policy":
            from recoverable._ladder import policy  # noqa: PLC0415

            return getattr(policy, name)
        case _:
            return None
