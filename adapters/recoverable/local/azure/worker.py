"""The worker from the host's side: a process with Microsoft's runtime and one app in it, started, asked and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from multiprocessing.connection import Pipe
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from recoverable.local.azure.app import AppError
from recoverable.local.azure.outcomes import Died, Outcome, Raised, Returned, TimedOut
from recoverable.local.azure.rpc import Typed, to_metadata, to_rpc

PATIENCE = timedelta(seconds=60)
"""How long an app may take to load (azure-functions-host, `WorkerProcessCountOptions.ProcessStartupTimeout`)."""

PACKAGES = Path(".python_packages", "lib", "site-packages")
"""Where a published app has what it requires."""

_SCRIPT = Path(__file__).with_name("worker_process.py")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the app.

    Args:
        name: Its name.
        id: What the worker knows it by.
        bindings: Its bindings as `function.json` would have them, the trigger among them.
    """

    name: str
    id: str
    bindings: tuple[Mapping[str, Any], ...]

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
        on_line: Called with each line that the process writes.
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
        self._waiting: dict[int, Future[Outcome]] = {}
        self._numbers, self._lock = count(1), threading.Lock()
        self._ready: Future[Any] = Future()
        self._ended: int | None = None
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        """Start the process and load the app.

        Raises:
            AppError: The app cannot be loaded; the message has the worker's traceback.
        """
        if not (script := self.folder / "function_app.py").is_file():
            raise AppError(
                f"There is no {script}; write the folder of an app of the Python v2 programming model"
            )
        self.start()
        try:
            self.functions = self._loaded()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill the process and all it started."""
        self.stop()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the process ended; None while it runs."""
        return self._ended

    def invoke(
        self,
        name: str,
        data: object,
        metadata: Mapping[str, Any],
        *,
        timeout: timedelta | None = None,
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
        """Run a function; any number run beside each other, as the runtime sees fit.

        Raises:
            KeyError: The app has no such function.
        """
        function = self.function(name)
        future: Future[Outcome] = Future()
        future.set_running_or_notify_cancel()  # nobody can cancel what runs
        call = {
            "invocation_id": invocation_id or str(uuid4()),
            "function_id": function.id,
            "parameter": function.trigger["name"],
            "data": tuple(to_rpc(data)),
            "metadata": {key: tuple(value) for key, value in to_metadata(metadata).items()},
            "trace_parent": f"00-{uuid4().hex}-{uuid4().hex[:16]}-00",
        }
        self._send(call, future)
        return future

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

    def start(self) -> None:
        """Start the process, and hear what it says; once."""
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [self._python, "-P", str(_SCRIPT), str(theirs.fileno()), str(self.folder)],
                cwd=self.folder,
                env=self._environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",
                start_new_session=True,  # Ctrl-C reaches the host alone, and one signal all that the functions started
            )
        self._threads = [
            threading.Thread(target=each, name=f"{each.__name__.strip('_')}-{self.pid}", daemon=True)
            for each in (self._read_lines, self._hear, self._watch)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Kill the process and all it started; what runs in it ends as `Died`. Unless there is one this does nothing."""
        if not self._threads:
            return
        self._kill()
        for thread in self._threads:
            thread.join()
        with self._lock:
            self._connection.close()

    def _send(self, call: dict[str, Any], future: Future[Outcome]) -> None:
        with self._lock:
            if self._ended is not None:
                future.set_result(Died(self._ended))
                return
            number = next(self._numbers)
            self._waiting[number] = future
            try:
                self._connection.send((number, call))
            except OSError:
                return  # the process is gone; who watches it tells all who wait

    def _loaded(self) -> tuple[Function, ...]:
        try:
            said = self._ready.result(PATIENCE.total_seconds())
        except TimeoutError:
            raise AppError(f"{self.folder} was not loaded within {PATIENCE.total_seconds():g} s") from None
        match said:
            case "ready", found:
                return tuple(
                    Function(name, id_, tuple(map(json.loads, bindings))) for name, id_, bindings in found
                )
            case "failed", what, where:
                raise AppError(f"{self.folder} cannot be loaded: {what}\n{where}".rstrip())
            case _:
                raise AppError(f"{self.folder} cannot be loaded: the worker process ended with status {said}")

    def _hear(self) -> None:
        """Take the answers in until there are no more."""
        try:
            while True:
                self._heard(self._connection.recv())
        except (EOFError, OSError):
            return  # the process is gone, or the connection is closed because it was

    def _heard(self, said: tuple[Any, ...]) -> None:
        if said[0] != "done":
            self._ready.set_result(said)
            return
        _, number, failure, outputs = said
        with self._lock:
            future = self._waiting.pop(number)
        future.set_result(
            Raised(*failure)
            if failure
            else Returned(tuple((name, Typed(kind, value)) for name, kind, value in outputs))
        )

    def _read_lines(self) -> None:
        """Pass the log on; a pipe that nobody reads fills up, and the function then hangs in `print`."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._on_line(self.pid, line.rstrip("\n"))

    def _watch(self) -> None:
        """Wait for the end, and tell all who wait for an answer."""
        code = self._process.wait()
        self._kill()  # what a function started goes with it, and lets go of the pipes
        self._threads[1].join(timeout=1)  # answers that were given before the end count
        with self._lock:
            self._ended = code
            left = list(self._waiting.values())
            self._waiting.clear()
        if not self._ready.done():
            self._ready.set_result(code)
        for future in left:
            future.set_result(Died(code))

    def _kill(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # the latter is what macOS says of a group of the dead
            return  # nobody is left in the group


def environment(
    folder: Path, settings: Mapping[str, str], python_path: Sequence[str | Path]
) -> dict[str, str]:
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
