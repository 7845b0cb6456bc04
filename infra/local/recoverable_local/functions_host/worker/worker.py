"""Load an app into a worker process, list its functions, and run them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from recoverable_local.functions_host.app.folder import AppError, check_folder
from recoverable_local.functions_host.worker.outcomes import Outcome
from recoverable_local.functions_host.worker.process import Process
from recoverable_local.functions_host.worker.rpc import to_metadata, to_rpc
from recoverable_local.outcomes import TimedOut

STARTUP_TIMEOUT = timedelta(seconds=60)
"""The time-out for loading an app (azure-functions-host, `WorkerProcessCountOptions.ProcessStartupTimeout`)."""

PACKAGES = Path(".python_packages", "lib", "site-packages")
"""The folder of a published app's dependencies, relative to the app's folder."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the app.

    Args:
        name: Its name.
        id: Its id in the worker.
        bindings: Its bindings in the form of `function.json`, including the trigger.
        error_queue: The error queue of its endpoint, if the function is an endpoint.
        is_coroutine: True if the worker runs it in its event loop, False if it takes one of the worker's threads.
    """

    name: str
    id: str
    bindings: tuple[Mapping[str, Any], ...]
    error_queue: str | None = None
    is_coroutine: bool = False

    @property
    def trigger(self) -> Mapping[str, Any]:
        """Return its trigger binding."""
        return next(each for each in self.bindings if str(each["type"]).lower().endswith("trigger"))


class Worker:
    """Microsoft's runtime in a process of its own, with one app.

        with Worker("shop", settings={"ServiceBus": "Endpoint=…"}) as worker:
            outcome = worker.invoke("orders", b'{"order": 42}', {"MessageId": "m-1", "DeliveryCount": 1, "UserProperties": {}})

    Args:
        folder: The app's folder, with `function_app.py`.
        settings: Its app settings; they become environment variables and override the host's own.
        python_path: Further folders on its import path, after its own.
        python: The Python interpreter; `azure-functions-runtime` must be installed for it.
        on_line: Called with the process id and each line that the process writes; None writes it to the host's stderr.
    """

    functions: tuple[Function, ...]
    """The app's functions; set when the context is entered."""

    def __init__(
        self,
        folder: str | Path,
        *,
        settings: Mapping[str, str] | None = None,
        python_path: Sequence[str | Path] = (),
        python: str = sys.executable,
        on_line: Callable[[int, str], None] | None = None,
    ) -> None:
        self.folder = Path(folder).resolve()
        self._environment = environment(self.folder, settings or {}, python_path)
        self._python, self._on_line = python, on_line or write_log_line
        self._process: Process | None = None

    def __enter__(self) -> Self:
        """Start the process and load the app.

        Raises:
            AppError: The app cannot be loaded; the message has the worker's traceback.
        """
        check_folder(self.folder)
        python = [self._python, "-P"]  # do not import modules from the script's own folder
        self._process = Process(python, folder=self.folder, environment=self._environment, on_line=self._on_line)
        try:
            self.functions = self._wait_until_loaded(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process and everything that it started."""
        self.stop()

    @property
    def process(self) -> Process:
        """Return the process of the loaded app."""
        assert self._process is not None, "enter the worker first"
        return self._process

    def invoke(
        self, name: str, data: object, metadata: Mapping[str, Any], *, timeout: timedelta | None = None
    ) -> Outcome:
        """Run a function and wait for its end.

        Args:
            name: The function's name.
            data: The trigger's data: bytes or a string, or a list of either.
            metadata: The trigger's metadata, with the host's names; values that are None are left out.
            timeout: The process is killed after it; None waits without limit.

        Raises:
            KeyError: A name that no function of the app has.
        """
        future = self.submit(name, data, metadata)
        try:
            return future.result(timeout.total_seconds() if timeout else None)
        except TimeoutError:
            assert timeout is not None
            self.stop()
            return TimedOut(timeout)

    def submit(
        self, name: str, data: object, metadata: Mapping[str, Any], *, invocation_id: str | None = None
    ) -> Future[Outcome]:
        """Run a function without waiting for its end.

        Raises:
            KeyError: A name that no function of the app has.
        """
        function = self.function(name)
        return self.process.submit(
            {
                "invocation_id": invocation_id or str(uuid4()),
                "function_id": function.id,
                "parameter": function.trigger["name"],
                "data": tuple(to_rpc(data)),
                "metadata": {key: tuple(value) for key, value in to_metadata(metadata).items()},
                "trace_parent": f"00-{uuid4().hex}-{uuid4().hex[:16]}-00",
            }
        )

    def function(self, name: str) -> Function:
        """Find a function by its name.

        Raises:
            KeyError: A name that no function of the app has.
        """
        for function in self.functions:
            if function.name == name:
                return function
        existing = ", ".join(each.name for each in self.functions) or "no functions"
        raise KeyError(f"There is no function {name!r}. The app has {existing}.")

    def stop(self) -> None:
        """Kill the process and everything that it started. Running invocations end as `Died`. Do nothing if there is no process."""
        if self._process is not None:
            self._process.stop()

    def _wait_until_loaded(self, process: Process) -> tuple[Function, ...]:
        try:
            answer = process.ready.result(STARTUP_TIMEOUT.total_seconds())
        except TimeoutError:
            raise AppError(f"{self.folder} was not loaded within {STARTUP_TIMEOUT.total_seconds():g} s") from None
        match answer:
            case "ready", found:
                return tuple(Function(*each) for each in found)
            case "failed", what, where:
                why = f"{what}\n{where}".rstrip()
            case _:
                why = f"the worker process ended with status {process.exit_code}"
        raise AppError(f"{self.folder} cannot be loaded: {why}")


def environment(folder: Path, settings: Mapping[str, str], python_path: Sequence[str | Path]) -> dict[str, str]:
    """Build the process's environment variables: the host's own, the app settings over them, and the import path."""
    folders = [folder / PACKAGES, folder, *python_path, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        **settings,
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
    }


def write_log_line(_: int, line: str) -> None:
    """Write a line of the worker's log to the host's stderr."""
    sys.stderr.write(line + "\n")
