"""Call a circuit's store from several threads: calls that get the same answer are made once, and none waits in a queue."""

from __future__ import annotations

from threading import Lock

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future, ThreadPoolExecutor
    from typing import Any, TypeAlias, TypeVar

    T = TypeVar("T")
    Key: TypeAlias = int | str | None

THREADS = 4
"""Calls at a time: a read, a change, and two that hang, for some parts of a call, such as looking up a name, have no
time-out."""

READ = None
"""The key of a read. The key of a change is the version that it changes."""


class SharedCalls:
    """The calls of one instance to one circuit's store.

    A host such as Functions runs many invocations in one process. They read the circuit together, and together they try
    to change the same version of it. One call answers all of them.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._under_way: dict[Key, Future[Any]] = {}
        self._threads: ThreadPoolExecutor | None = None

    def read(self, timeout: float, call: Callable[[], T]) -> T:
        """Return the result of a read, or of the one that is under way.

        Args:
            timeout: seconds to wait for the result.
            call: reads.

        Raises:
            TimeoutError: there is no result in time. Exceptions of the call are raised as they are.
        """
        return self._share(READ, timeout, call)[0]

    def change(self, version: int | str, timeout: float, call: Callable[[], T]) -> T | None:
        """Return the result of a change; None when a change of the same version is under way, for one of them is made.

        Args:
            version: the version that the call changes.
            timeout: seconds to wait for the result.
            call: changes it.

        Raises:
            TimeoutError: there is no result in time. Exceptions of the call are raised as they are, for all who wait.
        """
        try:
            result, is_own = self._share(version, timeout, call)
        finally:
            self._under_way.pop(READ, None)  # who reads after a change must not get an answer from before it
        return result if is_own else None

    def _share(self, key: Key, timeout: float, call: Callable[[], T]) -> tuple[T, bool]:
        """Return the result, and True if it is that of our own call."""
        from concurrent.futures import CancelledError  # noqa: PLC0415  # the store is called when something failed

        with self._lock:
            future = self._under_way.get(key)
            is_own = future is None or future.done()
            if future is None or is_own:
                future = self._under_way[key] = self._executor().submit(call)
        try:
            return future.result(timeout), is_own
        except CancelledError as error:
            raise TimeoutError from error
        finally:
            if is_own:
                future.cancel()  # a call that has not begun must not be made later
                future.add_done_callback(lambda done: self._forget(key, done))

    def _forget(self, key: Key, done: Future[Any]) -> None:
        with self._lock:
            if self._under_way.get(key) is done:
                del self._under_way[key]

    def _executor(self) -> ThreadPoolExecutor:
        """Return the threads in which calls are made; they are started when something first fails."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # as above

        self._threads = self._threads or ThreadPoolExecutor(THREADS, "recoverable-circuit")
        return self._threads
