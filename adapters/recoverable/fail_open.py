"""The store as one instance reaches it: when it cannot be asked, the instance goes on without."""

from __future__ import annotations

from datetime import timedelta

from .circuit import Limited
from .limits import NO_DELAY
from .rate_limit import StoreUnavailable

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from .circuit import Circuit, Seen
    from .rate_limit import CircuitStore

ALONE_FOR = timedelta(seconds=10)
"""A store that could not be asked is left alone for so long, or each invocation would pay for its silence."""


class FailOpenStore:
    """A store that raises nothing: no message may lose its attempt to a store of whatever kind.

    Args:
        store: the circuit's.
        warn: takes what the log is to be told.
    """

    __slots__ = ("_alone_until", "_store", "_warn", "may_limit")

    def __init__(self, store: CircuitStore, warn: Callable[[str], None]) -> None:
        self._store, self._warn = store, warn
        self._alone_until: datetime | None = None
        self.may_limit = False
        """Whether it may still limit others, as far as this instance knows."""

    def is_away(self) -> bool:
        """Whether it could not be asked when it was asked last."""
        return self._alone_until is not None

    def read(self, now: datetime) -> Seen | None:
        """The circuit as it is; None when it is left alone, or cannot be asked."""
        if self._alone_until is not None and now < self._alone_until:
            return None
        try:
            found = self._store.read()
        except Exception as error:  # noqa: BLE001  # told
            self._leave_alone(error, now, ALONE_FOR)
            return None
        self._alone_until = None
        self.may_limit = isinstance(found.circuit, Limited)
        return found

    def change(self, seen: Seen, circuit: Circuit, switch: str, now: datetime) -> Seen | None:
        """The changed circuit; None when the store refuses, or gives no answer, and may have done it."""
        try:
            changed = self._store.compare_and_set(seen, circuit, switch)
        except Exception as error:  # noqa: BLE001  # told
            changed = None
            self._leave_alone(error, now, NO_DELAY)
        # what gave no answer may be done, whatever another thread read in between
        self.may_limit = isinstance(circuit, Limited) or (changed is None and self.may_limit)
        return changed

    def _leave_alone(self, error: Exception, now: datetime, time: timedelta) -> None:
        self._alone_until = now + time
        # an error that is not ours may quote what is secret
        why = str(error) if isinstance(error, StoreUnavailable) else type(error).__name__
        when = f"after {time}" if time else "when it must know"
        text = f"The circuit's store cannot be asked: {why}. As a result, this instance limits its rate by what it knows itself, and asks again {when}."
        self._warn(text)
