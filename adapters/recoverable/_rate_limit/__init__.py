"""Attempt one message at a time while all attempts fail: the core's first gate."""

from __future__ import annotations

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable

    from recoverable._rate_limit.limiter import Limiter
    from recoverable._rate_limit.settings import RateLimit
    from recoverable.hosting import Environment


def gates_of(
    endpoint: object, limit: RateLimit, redact: Callable[[str], str] | None, environment: Environment, *,
    in_batches: bool = False,
) -> tuple[Limiter, ...]:  # fmt: skip
    """Return the gates of a new invocation whose rate may be limited.

    Args:
        endpoint: whose they are: each has a circuit of its own in its process.
        limit: the settings.
        redact: the user's redactor.
        environment: has the clock, and what the process keeps.
        in_batches: True where messages that are due together come in one invocation.
    """
    from recoverable._rate_limit.limiter import limiter_for  # noqa: PLC0415  # door: to the rate limit

    return (limiter_for(endpoint, limit, redact, environment, in_batches=in_batches),)
