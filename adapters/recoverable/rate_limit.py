"""When messages are let through one at a time because all of them fail: the settings, and the port to where the circuit is shared."""

from __future__ import annotations

from datetime import timedelta

from .config import checked_function
from .frozen import Frozen
from .limits import MAX_COUNT, checked_count, checked_delay

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from .circuit import Circuit, Seen

    class CircuitStore(Protocol):
        """Where instances that share a circuit keep it. Both verbs raise `StoreUnavailable`, and neither takes long."""

        def read(self) -> Seen:
            """The circuit as it is."""

        def compare_and_set(self, seen: Seen, circuit: Circuit, switch: str = "") -> Seen | None:
            """Change the circuit, and keep the switch beside it, if it still is as it was seen; None when another instance was faster."""


LONGEST_WAIT = timedelta(minutes=15)
"""What SQS can delay one message by (Amazon SQS delay queues), and so the longest deferral on each platform."""

DEFAULT_WAIT = timedelta(seconds=1)
DEFAULT_MAX_HOLD = timedelta(hours=24)


class StoreUnavailable(Exception):
    """Raised by a store that cannot be asked now: the instance goes on with what it knows itself."""


class RateLimit(Frozen):
    """What makes the endpoint attempt one message at a time, until one succeeds.

    Args:
        consecutive_failures: how many attempts in a row must fail, 1 to 10,000.
        wait: the time between two attempts while limited, 0 to 15 minutes (default: NServiceBus, "Automatic rate limiting").
        max_hold: a message that is held for longer goes on with its ladder, so that no failure hides for ever.
        on_started: called without arguments when limiting starts; what it raises is logged and changes nothing.
        on_ended: the same for when limiting ends.
        counts: whether a failure says something about the whole endpoint: a bug in one kind of message does not. By default each does.
        store: where instances share the circuit; None for one circuit per instance.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range.
    """

    __slots__ = ("consecutive_failures", "counts", "max_hold", "on_ended", "on_started", "store", "wait")
    consecutive_failures: int
    wait: timedelta
    max_hold: timedelta
    on_started: Callable[[], object] | None
    on_ended: Callable[[], object] | None
    counts: Callable[[BaseException], bool] | None
    store: CircuitStore | None

    def __init__(
        self,
        consecutive_failures: int,
        wait: timedelta = DEFAULT_WAIT,
        max_hold: timedelta = DEFAULT_MAX_HOLD,
        *,
        on_started: Callable[[], object] | None = None,
        on_ended: Callable[[], object] | None = None,
        counts: Callable[[BaseException], bool] | None = None,
        store: CircuitStore | None = None,
    ) -> None:
        if checked_count("RateLimit(consecutive_failures)", consecutive_failures, MAX_COUNT) < 1:
            raise ValueError(
                f"RateLimit(consecutive_failures) is 0; write a whole number from 1 to {MAX_COUNT:,}"
            )
        checked_delay("RateLimit(wait)", wait, LONGEST_WAIT)
        checked_delay("RateLimit(max_hold)", max_hold)
        for name, callback in (("on_started", on_started), ("on_ended", on_ended)):
            if callback is not None:
                checked_function(f"RateLimit({name})", callback, "a function without arguments")
        if counts is not None:
            checked_function("RateLimit(counts)", counts, "a function from exception to bool")
        self._assign(consecutive_failures=consecutive_failures, wait=wait, max_hold=max_hold)
        self._assign(on_started=on_started, on_ended=on_ended, counts=counts, store=checked_store(store))


def checked_store(store: Any) -> CircuitStore | None:
    """The store, or an error that says what to write instead."""
    if store is None or (hasattr(store, "read") and hasattr(store, "compare_and_set")):
        found: CircuitStore | None = store
        return found
    raise TypeError(
        f"RateLimit(store) is {store!r}; write DynamoDbCircuit(...), TableCircuit(...), or None for a circuit per instance"
    )
