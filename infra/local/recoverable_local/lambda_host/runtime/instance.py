"""Run one instance of a function: a process with the real Lambda runtime client, which gets one invocation at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from queue import Empty

from recoverable_local.lambda_host.runtime.client_process import INIT_TIMEOUT, start_client
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.lambda_host.runtime.runtime_api import Invocation, InvocationRequested, RuntimeApi
from recoverable_local.lambda_host.sam.stack import Function
from recoverable_local.outcomes import Died, TimedOut


class ProcessInstance:
    """An instance in a process of its own.

    Args:
        function: The function that it runs.
        variables: Lambda's and the template's environment variables.
        host: The host's environment, from which the process's own variables are taken.
        on_line: Called with the process id and each line that the process writes.
    """

    def __init__(
        self,
        function: Function,
        *,
        variables: Mapping[str, str],
        host: Mapping[str, str],
        on_line: Callable[[int, str], None],
    ) -> None:
        self._api = RuntimeApi()
        self._child = start_client(function, self._api, variables=variables, host=host, on_line=on_line)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """True while it can take another invocation."""
        return self._child.alive

    def initialize(self) -> InitFailed | Died | TimedOut | None:
        """Wait until the module is loaded. Return None, or on failure stop the instance and return the reason."""
        report = self._next_report(timeout=INIT_TIMEOUT, ends=(InvocationRequested, InitFailed, Died))
        if isinstance(report, InvocationRequested):
            return None
        self.stop()
        return report if isinstance(report, InitFailed | Died) else TimedOut(INIT_TIMEOUT)

    def invoke(self, invocation: Invocation) -> Outcome:
        """Run the handler on one event. After a time-out or the end of the process the instance is stopped."""
        self._api.send(invocation)
        report = self._next_report(timeout=invocation.timeout, ends=(Returned, Raised, Died))
        if isinstance(report, Returned | Raised):
            return report
        self.stop()
        return report if isinstance(report, Died) else TimedOut(invocation.timeout)

    def stop(self) -> None:
        """Kill the process and everything that it started, and close the port. Do nothing if it is stopped already."""
        self._child.stop()
        self._api.close()

    def _next_report(self, *, timeout: timedelta, ends: tuple[type, ...]) -> object | None:
        """Wait for the next report of one of these types. Return None after the time-out."""
        end = time.monotonic() + timeout.total_seconds()
        while True:
            try:
                report = self._api.reports.get(timeout=max(0, end - time.monotonic()))
            except Empty:
                return None
            if isinstance(report, ends):
                return report
