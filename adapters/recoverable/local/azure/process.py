"""The worker process from the host's side: started, asked over one connection, read, watched and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

from recoverable.local.azure.outcomes import Died, Outcome, Raised, Returned
from recoverable.local.azure.rpc import Typed

_SCRIPT = Path(__file__).with_name("worker_process.py")
_BRIEFLY = 1.0  # seconds; what left the process group may hold the pipe for as long as it likes


class Process:
    """A worker process, from its start to its end.

    Args:
        python: The Python that it runs on, with its options.
        folder: The app's folder, where it runs.
        environment: Its environment variables.
        on_line: Called with each line that it writes, and its process id.
    """

    def __init__(
        self,
        python: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        on_line: Callable[[int, str], None],
    ) -> None:
        self.ready: Future[Any] = Future()
        self.exit_code: int | None = None
        self._on_line = on_line
        self._waiting: dict[int, Future[Outcome]] = {}
        self._numbers, self._lock = count(1), threading.Lock()
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [*python, str(_SCRIPT), str(theirs.fileno()), str(folder)],
                cwd=folder,
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",
                start_new_session=True,  # Ctrl-C reaches the host alone, and one signal all that the functions started
            )
        self._pump, self._ear, self._eye = (
            threading.Thread(target=each, name=f"worker-{self.pid}", daemon=True)
            for each in (self._read_lines, self._hear, self._watch)
        )
        for thread in (self._pump, self._ear, self._eye):
            thread.start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def ask(self, call: Mapping[str, Any]) -> Future[Outcome]:
        """Have it run a function; any number run beside each other, as the runtime sees fit."""
        future: Future[Outcome] = Future()
        future.set_running_or_notify_cancel()  # nobody can cancel what runs
        with self._lock:
            if self.exit_code is not None:
                future.set_result(Died(self.exit_code))
                return future
            number = next(self._numbers)
            self._waiting[number] = future
            try:
                self._connection.send((number, call))
            except OSError:
                return future  # the process is gone; who watches it tells all who wait
        return future

    def stop(self) -> None:
        """Kill it and all that it started; what runs in it ends as `Died`. Once it is gone this does nothing."""
        self._kill()
        for thread in (self._eye, self._ear):
            thread.join()
        with self._lock:
            self._connection.close()

    def _hear(self) -> None:
        """Take the answers in until there are no more."""
        try:
            while True:
                self._heard(*self._connection.recv())
        except (EOFError, OSError):
            return  # the process is gone, and its end of the connection with it

    def _heard(self, what: str, *said: Any) -> None:
        if what != "done":
            self.ready.set_result((what, *said))
            return
        number, failure, outputs = said
        with self._lock:
            future = self._waiting.pop(number)
        future.set_result(Raised(*failure) if failure else Returned(_typed(outputs)))

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
        for thread in (self._pump, self._ear):  # what was said before the end counts
            thread.join(_BRIEFLY)
        with self._lock:
            self.exit_code = code
            left = list(self._waiting.values())
            self._waiting.clear()
        if not self.ready.done():
            self.ready.set_result(("ended", code))
        for future in left:
            future.set_result(Died(code))

    def _kill(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # the latter is what macOS says of a group of the dead
            return  # nobody is left in the group


def _typed(outputs: Sequence[tuple[str, str, Any]]) -> tuple[tuple[str, Typed], ...]:
    return tuple((name, Typed(kind, value)) for name, kind, value in outputs)
