"""Manage the instances of one function: reuse warm ones, and start new ones up to its reserved concurrency."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome
from recoverable_local.lambda_host.runtime.runtime_api import Invocation
from recoverable_local.outcomes import Died, TimedOut


class Instance(Protocol):
    """An environment that runs a function, one invocation at a time."""

    @property
    def pid(self) -> int:
        """Return the id of the process that it runs in."""
        ...

    @property
    def alive(self) -> bool:
        """True while it can take another invocation."""
        ...

    def initialize(self) -> InitFailed | Died | TimedOut | None:
        """Load the module. Return None, or the reason for a failure."""
        ...

    def invoke(self, invocation: Invocation) -> Outcome:
        """Run the handler on one event."""
        ...

    def stop(self) -> None:
        """Stop it. Do nothing if it is stopped already."""
        ...


class PoolClosed(Exception):
    """The host is shutting down, so there are no instances."""


class Pool:
    """Pool of the instances of one function.

    Args:
        start: Makes a new instance, which is not yet initialized.
        limit: The most instances at a time; None is no limit.
    """

    def __init__(self, start: Callable[[], Instance], *, limit: int | None) -> None:
        self._start = start
        self._limit = limit
        self._idle: list[Instance] = []
        self._busy: set[Instance] = set()
        self._closed = False
        self._changed = threading.Condition()

    def take(self, *, timeout: timedelta) -> tuple[Instance, bool] | None:
        """Take an instance, waiting for one if all are busy.

        Args:
            timeout: The longest wait.

        Returns:
            The instance, and True if it is new and must be initialized; None if none became free in time.

        Raises:
            PoolClosed: The host is shutting down.
        """
        end = time.monotonic() + timeout.total_seconds()
        with self._changed:
            while self._full() and (remaining := end - time.monotonic()) > 0:
                self._changed.wait(remaining)
            if self._closed:
                raise PoolClosed
            return None if self._full() else self._pick()

    def give_back(self, instance: Instance) -> None:
        """Give an instance back to the pool. One that has ended is dropped."""
        with self._changed:
            self._busy.discard(instance)
            if instance.alive and not self._closed:
                self._idle.append(instance)
            self._changed.notify()

    def close(self) -> None:
        """Stop every instance, including busy ones."""
        with self._changed:
            self._closed = True
            instances = [*self._idle, *self._busy]
            self._idle.clear()
            self._changed.notify_all()
        for instance in instances:
            instance.stop()

    def _pick(self) -> tuple[Instance, bool]:
        for instance in [one for one in self._idle if not one.alive]:
            self._idle.remove(instance)
            instance.stop()
        is_new = not self._idle
        instance = self._start() if is_new else self._idle.pop()
        self._busy.add(instance)
        return instance, is_new

    def _full(self) -> bool:
        if self._closed or self._idle or self._limit is None:
            return False
        return len(self._busy) >= self._limit
