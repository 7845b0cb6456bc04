"""Set when messages are attempted one at a time because all of them fail, and where instances share the circuit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from recoverable._frozen import Frozen, field
from recoverable._limits import MAX_COUNT, checked_count, checked_delay, checked_function
from recoverable._rate_limit.state import DEFAULT_LONGEST_WAIT, DEFAULT_WAIT, LONGEST_WAIT, SHORTEST_WAIT

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Any, Protocol

    from recoverable._rate_limit.state import Circuit, Snapshot
else:
    Protocol = object  # a store is found by its methods


DEFAULT_MAX_HOLD = timedelta(hours=24)


class CircuitStore(Protocol):
    """A store for the circuit that instances share.

    Both methods raise `StoreUnavailable`, and neither takes long.
    """

    def read(self) -> Snapshot:
        """Return the circuit as it is."""

    def compare_and_set(self, snapshot: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change the circuit and its switch if both are still as in the snapshot.

        Return None when another instance was faster.
        """


class RateLimit(Frozen):
    """Settings for attempting one message at a time while all attempts fail, until one succeeds.

    Args:
        consecutive_failures: the number of attempts in a row that must fail, 1 to 10,000.
        wait: the time between two attempts while limited, 0 to 15 minutes (default: NServiceBus, "Automatic rate
            limiting").
        max_hold: a message that is deferred for longer is attempted, and its failures count, so that no failure stays
            hidden for ever.
        longest_wait: the longest time of one deferral, 5 seconds to 15 minutes. All that waits comes back within it after
            the end of an outage; a shorter time costs more deferrals in a long one.
        on_started: called without arguments when limiting starts; what it raises is logged and changes nothing.
        on_ended: the same for when limiting ends.
        counts: returns True for a failure that concerns the whole endpoint, and not one kind of message alone. By
            default each does.
        store: shares the circuit between instances; None for one circuit per instance.

    Raises:
        TypeError: a setting of the wrong class.
        ValueError: a setting out of range.
    """

    consecutive_failures: int
    wait: timedelta = DEFAULT_WAIT
    max_hold: timedelta = DEFAULT_MAX_HOLD
    longest_wait: timedelta = field(default=DEFAULT_LONGEST_WAIT, kw_only=True)
    on_started: Callable[[], object] | None = field(default=None, kw_only=True)
    on_ended: Callable[[], object] | None = field(default=None, kw_only=True)
    counts: Callable[[BaseException], bool] | None = field(default=None, kw_only=True)
    store: CircuitStore | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        checked_count("RateLimit(consecutive_failures)", self.consecutive_failures, MAX_COUNT, least=1)
        checked_delay("RateLimit(wait)", self.wait, LONGEST_WAIT)
        checked_delay("RateLimit(max_hold)", self.max_hold)
        if checked_delay("RateLimit(longest_wait)", self.longest_wait, LONGEST_WAIT) < SHORTEST_WAIT:
            raise ValueError(f"RateLimit(longest_wait) is {self.longest_wait}; write {SHORTEST_WAIT} to {LONGEST_WAIT}")
        for name, callback in (("on_started", self.on_started), ("on_ended", self.on_ended)):
            if callback is not None:
                checked_function(f"RateLimit({name})", callback, "a function without arguments")
        if self.counts is not None:
            checked_function("RateLimit(counts)", self.counts, "a function from exception to bool")
        check_circuit_store(self.store)


def check_circuit_store(store: Any) -> None:
    """Raise TypeError, whose text says what to write instead, unless the store is one or None."""
    if store is None or (hasattr(store, "read") and hasattr(store, "compare_and_set")):
        return
    raise TypeError(
        f"RateLimit(store) is {store!r}; write DynamoDbCircuit(...), TableCircuit(...), or None for a circuit per instance"
    )
