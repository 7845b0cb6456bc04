"""The worker: Microsoft's runtime with one app in it, whose functions are known and can be run."""

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

PATIENCE = timedelta(seconds=60)
"""How long an app may take to load (azure-functions-host, `WorkerProcessCountOptions.ProcessStartupTimeout`)."""

PACKAGES = Path(".python_packages", "lib", "site-packages")
"""Where a published app has what it requires."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the app.

    Args:
        name: Its name.
        id: What the worker knows it by.
        bindings: Its bindings as `function.json` would have them, the trigger among them.
        error_queue: That of the endpoint that it is, if it is one.
    """

    name: str
    id: str
    bindings: tuple[Mapping[str, Any], ...]
    error_queue: str | None = None

    @property
    def trigger(self) -> Mapping[str, Any]:
        """The binding that starts it."""
        return next(each for each in self.bindings if str(each["type"]).lower().endswith("trigger"))


class Worker:
    """Microsoft's runtime in a process of its own, with one app.

        with Worker("shop", settings={"ServiceBus": "Endpoint=…"}) as worker:
            outcome = worker.invoke("orders", b'{"order": 42}', {"MessageId": "m-1", "DeliveryCount": 1, "UserProperties": {}})

    Args:
        folder: The app's folder, with `function_app.py`.
        settings: Its app settings: environment variables, over the host's own.
        python_path: Further folders in which its modules are looked for, after its own.
        python: The Python that it runs on; it needs `azure-functions-runtime`.
        on_line: Called with the process's number and each line that it writes.
    """

    functions: tuple[Function, ...]
    """What the app has; known once entered."""

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
        self._python, self._on_line = python, on_line or say
        self._process: Process | None = None

    def __enter__(self) -> Self:
        """Start the process and load the app.

        Raises:
            AppError: The app cannot be loaded; the message has the worker's traceback.
        """
        check_folder(self.folder)
        python = [self._python, "-P"]  # the script's own folder holds none of the app's modules
        self._process = Process(python, folder=self.folder, environment=self._environment, on_line=self._on_line)
        try:
            self.functions = self._loaded(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the process and all it started."""
        self.stop()

    @property
    def process(self) -> Process:
        """The process of an app that is loaded."""
        assert self._process is not None, "enter it first"
        return self._process

    def invoke(
        self, name: str, data: object, metadata: Mapping[str, Any], *, timeout: timedelta | None = None
    ) -> Outcome:
        """Run a function and wait for its end.

        Args:
            name: The function's.
            data: The trigger's: bytes or a text, or a list of either.
            metadata: The trigger's, by the host's names; what is None is left out.
            timeout: After which the process is killed.

        Raises:
            KeyError: The app has no such function.
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
        """Run a function, beside others.

        Raises:
            KeyError: The app has no such function.
        """
        function = self.function(name)
        return self.process.ask(
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
        """A function by its name.

        Raises:
            KeyError: The app has no such function.
        """
        for function in self.functions:
            if function.name == name:
                return function
        known = ", ".join(each.name for each in self.functions) or "no functions"
        raise KeyError(f"There is no function {name!r}; the app has {known}.")

    def stop(self) -> None:
        """Kill the process and all it started; what runs in it ends as `Died`. Unless there is one this does nothing."""
        if self._process is not None:
            self._process.stop()

    def _loaded(self, process: Process) -> tuple[Function, ...]:
        try:
            said = process.ready.result(PATIENCE.total_seconds())
        except TimeoutError:
            raise AppError(f"{self.folder} was not loaded within {PATIENCE.total_seconds():g} s") from None
        match said:
            case "ready", found:
                return tuple(Function(*each) for each in found)
            case "failed", what, where:
                why = f"{what}\n{where}".rstrip()
            case _:
                why = f"the worker process ended with status {process.exit_code}"
        raise AppError(f"{self.folder} cannot be loaded: {why}")


def environment(folder: Path, settings: Mapping[str, str], python_path: Sequence[str | Path]) -> dict[str, str]:
    """The process's environment variables: the host's own, then the app settings, and the way to the app's modules."""
    folders = [folder / PACKAGES, folder, *python_path, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        **settings,
        "FUNCTIONS_WORKER_RUNTIME": "python",
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
    }


def say(_: int, line: str) -> None:
    """Write a line of the worker's log where the host's own goes."""
    sys.stderr.write(line + "\n")
