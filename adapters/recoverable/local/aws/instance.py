"""One instance of a function: a process that runs the real Lambda runtime client, given one invocation at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from queue import Empty

from recoverable.local.aws.environment import process_variables
from recoverable.local.aws.outcomes import Died, InitFailed, Outcome, Raised, Returned, TimedOut
from recoverable.local.aws.runtime_api import Asked, Invocation, RuntimeApi
from recoverable.local.aws.sam.stack import Function

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
        self._function = function
        self._on_line = on_line
        self._api = RuntimeApi()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "awslambdaric", function.handler],
            cwd=function.code,
            env={**process_variables(function, api_address=self._api.address, host=host), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="backslashreplace",
            start_new_session=True,  # Ctrl-C reaches the host alone, and one signal reaches all that the handler started
        )
        self._pump = threading.Thread(target=self._read_lines, name=f"log-{self.pid}", daemon=True)
        self._watch = threading.Thread(target=self._wait_for_end, name=f"watch-{self.pid}", daemon=True)
        self._pump.start()
        self._watch.start()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can take another invocation."""
        return self._process.poll() is None

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
        if self.alive:
            self._kill()
        self._watch.join()
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

    def _read_lines(self) -> None:
        """Pass the log on; a pipe that nobody reads fills up, and the handler then hangs in `print`."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._on_line(self.pid, line.rstrip("\n").replace(_NON_BREAKING_SPACE, " "))

    def _wait_for_end(self) -> None:
        code = self._process.wait()
        self._kill()  # what the handler started goes with it, as a sandbox does, and lets go of the pipe
        self._pump.join(timeout=1)  # what left the process group may hold the pipe for as long as it likes
        self._api.mailbox.put(Died(code))

    def _kill(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # the latter is what macOS says of a group of the dead
            return  # nobody is left in the group
