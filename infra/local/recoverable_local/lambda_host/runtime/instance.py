"""One instance of a function: a process that runs the real Lambda runtime client, given one invocation at a time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from queue import Empty

from recoverable_local.child import Child
from recoverable_local.lambda_host.runtime.environment import process_variables
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.lambda_host.runtime.runtime_api import Asked, Invocation, RuntimeApi
from recoverable_local.lambda_host.sam.stack import Function
from recoverable_local.outcomes import Died, TimedOut

INIT_TIMEOUT = timedelta(seconds=10)
"""How long a module may take to load; Lambda, "Understanding the Lambda execution environment lifecycle"."""

_NON_BREAKING_SPACE = "\u00a0"  # what the runtime client indents tracebacks with, so that CloudWatch keeps it


class ProcessInstance:
    """An instance in a process of its own.

    Args:
        function: What it runs.
        variables: Lambda's and the template's environment variables.
        host: The host's environment, for what a process needs beside them.
        on_line: Called with each line the process writes, and its process id.
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
        self._child = Child(
            [sys.executable, "-m", "awslambdaric", function.handler],
            folder=function.code,
            environment={**process_variables(function, api_address=self._api.address, host=host), **variables},
            on_line=lambda pid, line: on_line(pid, line.replace(_NON_BREAKING_SPACE, " ")),
            on_end=lambda code: self._api.mailbox.put(Died(code)),
        )

    @property
    def pid(self) -> int:
        """The process."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether it can take another invocation."""
        return self._child.alive

    def initialize(self) -> InitFailed | Died | TimedOut | None:
        """Wait until the module is loaded; None when it is, else how that went wrong, and the instance is gone."""
        mail = self._mail(timeout=INIT_TIMEOUT, ends=(Asked, InitFailed, Died))
        if isinstance(mail, Asked):
            return None
        self.stop()
        return mail if isinstance(mail, InitFailed | Died) else TimedOut(INIT_TIMEOUT)

    def invoke(self, invocation: Invocation) -> Outcome:
        """Run the handler on one event; after a time-out or a death the instance is gone."""
        self._api.hand_over(invocation)
        mail = self._mail(timeout=invocation.timeout, ends=(Returned, Raised, Died))
        if isinstance(mail, Returned | Raised):
            return mail
        self.stop()
        return mail if isinstance(mail, Died) else TimedOut(invocation.timeout)

    def stop(self) -> None:
        """Kill the process and all it started, and close the port. Once it is gone this does nothing."""
        self._child.stop()
        self._api.close()

    def _mail(self, *, timeout: timedelta, ends: tuple[type, ...]) -> object | None:
        """The next mail of one of these kinds; None when the time is over first."""
        end = time.monotonic() + timeout.total_seconds()
        while True:
            try:
                mail = self._api.mailbox.get(timeout=max(0, end - time.monotonic()))
            except Empty:
                return None
            if isinstance(mail, ends):
                return mail
