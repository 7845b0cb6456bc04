"""Let the copies of many threads go out together: whoever has the senders sends all that wait."""

from __future__ import annotations

from threading import Condition
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from recoverable.azure._copies import Copy


class NotTried(Exception):
    """Stands for the reason of a copy that nobody has tried to send: one before it was refused, or the thread ended."""


class Parcel:
    """A copy that waits for the senders, and what came of it.

    Args:
        copy: the copy.
        others: all parcels of the same call: after one that was refused none is sent any more.
        alone: True if it must share no batch: one that was refused is then known to be refused itself.

    `done` is True when somebody has tried to send it; `error` is the reason why it was not sent, None once it was.
    """

    __slots__ = ("_others", "alone", "copy", "done", "error")

    def __init__(self, copy: Copy, others: list[Parcel], *, alone: bool) -> None:
        self.copy, self.alone, self.done = copy, alone, False
        self.error: Exception | None = NotTried()
        self._others = others
        others.append(self)

    @property
    def comes_too_late(self) -> bool:
        """True if a parcel of the same call was refused: all messages of the call are redelivered, and what is sent is sent again."""
        return any(not isinstance(other.error, NotTried | None) for other in self._others)


class GroupCommit:
    """A way to the senders for one thread at a time, which takes along what other threads have to send.

    Args:
        send: sends parcels, and notes on each what came of it; it does not raise.
        timeout: seconds to wait for another thread, whose opening of a connection the SDK may never end.
    """

    def __init__(self, send: Callable[[list[Parcel]], None], timeout: float) -> None:
        self._send, self._timeout = send, timeout
        self._changed, self._is_sending, self._waiting = Condition(), False, list[Parcel]()

    def send(self, copies: list[Copy], *, alone: bool = False) -> list[Exception | None]:
        """Send the copies; return for each the reason why it was not sent, or None.

        Args:
            copies: the copies, at least one.
            alone: True if none may share a batch.
        """
        parcels: list[Parcel] = []
        for copy in copies:
            Parcel(copy, parcels, alone=alone)
        with self._changed:
            self._waiting += parcels
            if not self._changed.wait_for(lambda: parcels[0].done or not self._is_sending, self._timeout):
                return self._withdraw(parcels)
            if parcels[0].done:  # by another thread, which took all that waited
                return [parcel.error for parcel in parcels]
            taken, self._waiting, self._is_sending = self._waiting, [], True
        try:
            self._send(taken)
        finally:
            self._finish(taken)
        return [parcel.error for parcel in parcels]

    def _finish(self, taken: list[Parcel]) -> None:
        """Tell those whose parcels were sent, and let the next thread send."""
        with self._changed:
            self._is_sending = False
            for parcel in taken:
                parcel.done = True
            self._changed.notify_all()

    def _withdraw(self, parcels: list[Parcel]) -> list[Exception | None]:
        """Take back what was not sent; what the other thread has taken may still be."""
        self._waiting = [parcel for parcel in self._waiting if parcel not in parcels]
        return [TimeoutError(f"another thread has been sending copies for {self._timeout} s") for _ in parcels]
