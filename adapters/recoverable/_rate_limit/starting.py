"""Make the limiter of a new invocation from an endpoint's settings and from what its process knows of the circuit."""

from __future__ import annotations

from recoverable._rate_limit.limiter import Limiter
from recoverable._rate_limit.store import Breaker

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Literal

    from recoverable._config import Recoverability
    from recoverable._rate_limit.settings import RateLimit
    from recoverable.hosting import Environment


def limiter_for(
    endpoint: object,
    limit: RateLimit,
    recoverability: Recoverability,
    environment: Environment,
    *,
    may_defer: bool,
    in_batches: bool = False,
) -> Limiter:
    """Return the limiter of a new invocation; the endpoint's breaker lives as long as the process that it runs in."""
    kept = environment.kept
    breaker = kept.get(endpoint) or kept.setdefault(
        endpoint, Breaker(limit, lambda *line: log_circuit(recoverability, *line))
    )
    return Limiter(
        breaker,
        environment.clock,
        in_batches=in_batches,
        may_defer=may_defer,
        unrecoverable=lambda error: is_hopeless(recoverability, error),
    )


def is_hopeless(recoverability: Recoverability, error: BaseException) -> bool:
    """True if the failure is unrecoverable by the settings.

    Return False when a predicate raises, for which the policy has a warning.
    """
    from recoverable._ladder.policy import is_unrecoverable  # noqa: PLC0415  # the failure side

    try:
        return is_unrecoverable(recoverability, error)
    except Exception:  # noqa: BLE001  # the message waits; the policy evaluates the predicates again when it is attempted
        return False


def log_circuit(recoverability: Recoverability, level: Literal["info", "warning"], text: str) -> None:
    """Log what happens to the circuit; a store's own words pass the user's redactor."""
    from recoverable._ladder.redaction import redactor_of  # noqa: PLC0415  # as above
    from recoverable._observe.log import log_circuit as log  # noqa: PLC0415  # the log is imported when something first fails

    log(level, text, redactor_of(recoverability))
