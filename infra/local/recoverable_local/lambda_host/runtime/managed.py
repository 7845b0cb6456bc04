"""Run a function as on Lambda Managed Instances: the processes of one runtime client share an environment, and none is killed at a time-out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from queue import Empty

from recoverable_local.lambda_host.runtime.client_process import INIT_TIMEOUT, start_client
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.lambda_host.runtime.runtime_api import Invocation, InvocationRequested, RuntimeApi
from recoverable_local.lambda_host.sam.stack import Function
from recoverable_local.outcomes import Died, TimedOut


class Environments:
    """The environments of one function; a new one starts when each process of the others is at work.

    Args:
        start: starts an environment.
    """

    def __init__(self, start: Callable[[], Environment]) -> None:
        self._start, self._running = start, list[Environment]()
        self._lock = threading.Lock()

    def place(self) -> Place:
        """Return a place for one invocation at a time, in an environment that has a process to spare or in a new one."""
        with self._lock:
            for environment in self._running:
                if environment.reserve():
                    return Place(environment)
            environment = self._start()
            self._running.append(environment)
            environment.reserve()
            return Place(environment)

    def stop(self) -> None:
        """Kill all processes, those too whose handlers go on after their time-out."""
        for environment in self._running:
            environment.stop()


class Environment:
    """An environment: one runtime client, which forks the processes.

    Args:
        function: the function that it runs.
        variables: Lambda's and the template's environment variables.
        host: the host's environment, from which the processes' own variables are taken.
        on_line: called with the process id and each line that one of them writes.
    """

    def __init__(
        self,
        function: Function,
        *,
        variables: Mapping[str, str],
        host: Mapping[str, str],
        on_line: Callable[[int, str], None],
    ) -> None:
        self._api, self._free = RuntimeApi(), function.processes or 1
        self._loaded, self._failure = False, None  # type: tuple[bool, InitFailed | Died | None]
        self._changed = threading.Condition()
        self._child = start_client(function, self._api, variables=variables, host=host, on_line=on_line)
        threading.Thread(target=self._read_reports, name=f"reports-{self.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        """Return the id of the process that forked the others."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """True while it can take invocations."""
        return self._child.alive and self._failure is None

    def reserve(self) -> bool:
        """Reserve one of the processes; False when none is to spare."""
        with self._changed:
            if not self.alive or self._free == 0:
                return False
            self._free -= 1
            return True

    def initialize(self) -> InitFailed | Died | TimedOut | None:
        """Wait until a process has loaded the module. Return None, or the reason for a failure."""
        with self._changed:
            self._changed.wait_for(lambda: self._loaded or self._failure, INIT_TIMEOUT.total_seconds())
            return self._failure if self._loaded or self._failure else TimedOut(INIT_TIMEOUT)

    def invoke(self, invocation: Invocation) -> Outcome:
        """Run the handler on one event. After a time-out its process goes on, and what it answers then counts for nothing."""
        answer = self._api.send_and_await(invocation)
        try:
            report = answer.get(timeout=invocation.timeout.total_seconds())
        except Empty:
            self._api.forget(invocation)
            return TimedOut(invocation.timeout)
        assert isinstance(report, Returned | Raised | Died)
        return report

    def stop(self) -> None:
        """Kill the processes, and close the port. Do nothing if they are stopped already."""
        self._child.stop()
        self._api.close()

    def _read_reports(self) -> None:
        """Note what is no answer in time: that the module is loaded, a failure, and that a late handler has ended."""
        report: object = None
        while not isinstance(report, Died):
            report = self._api.reports.get()
            with self._changed:
                match report:
                    case InvocationRequested():
                        self._loaded = True
                    case Returned() | Raised():
                        self._free += 1
                    case InitFailed() | Died():
                        self._failure = self._failure or report  # after a failed start the process ends, too
                self._changed.notify_all()
        self._api.end_all(report)


class Place:
    """A place in an environment, for one invocation at a time. After a time-out it is lost: its process is still at work.

    Args:
        environment: the environment.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment, self._lost = environment, False

    @property
    def pid(self) -> int:
        """Return the id of the process that forked the others."""
        return self._environment.pid

    @property
    def alive(self) -> bool:
        """True while it can take another invocation."""
        return self._environment.alive and not self._lost

    def initialize(self) -> InitFailed | Died | TimedOut | None:
        """Wait until the module is loaded. Return None, or the reason for a failure."""
        return self._environment.initialize()

    def invoke(self, invocation: Invocation) -> Outcome:
        """Run the handler on one event."""
        outcome = self._environment.invoke(invocation)
        self._lost = isinstance(outcome, TimedOut)
        return outcome

    def stop(self) -> None:
        """Stop the environment."""
        self._environment.stop()
