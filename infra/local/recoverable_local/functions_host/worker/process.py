"""Start a worker process, send it requests and take its answers over one connection, watch it, and kill it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

from recoverable_local.child import Child
from recoverable_local.functions_host.worker.outcomes import Outcome, Raised, Returned
from recoverable_local.functions_host.worker.rpc import Typed
from recoverable_local.outcomes import Died

_SCRIPT = Path(__file__).with_name("worker_process.py")
_LAST_ANSWERS_TIMEOUT = 1.0  # seconds to read answers that were sent before the process ended


class Process:
    """A worker process, from its start to its end.

    Args:
        python: The Python interpreter and its options.
        folder: The app's folder, its working directory.
        environment: Its environment variables.
        on_line: Called with its process id and each line that it writes.
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
        self._waiting: dict[int, Future[Outcome]] = {}
        self._numbers, self._lock = count(1), threading.Lock()
        self._connection, theirs = Pipe()
        self._reader = threading.Thread(target=self._read_answers, name="worker", daemon=True)
        self._reader.start()
        with theirs:
            self._child = Child(
                [*python, str(_SCRIPT), str(theirs.fileno()), str(folder)],
                folder=folder,
                environment=environment,
                descriptors=[theirs.fileno()],
                on_line=on_line,
                on_end=self._ended,
            )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._child.pid

    def submit(self, call: Mapping[str, Any]) -> Future[Outcome]:
        """Run a function. The runtime decides how many run at the same time."""
        future: Future[Outcome] = Future()
        future.set_running_or_notify_cancel()  # a running function cannot be cancelled
        with self._lock:
            if self.exit_code is not None:
                future.set_result(Died(self.exit_code))
                return future
            number = next(self._numbers)
            self._waiting[number] = future
            try:
                self._connection.send((number, call))
            except OSError:
                return future  # the process has ended; `_ended` sets the result of all waiting futures
        return future

    def stop(self) -> None:
        """Kill it and everything that it started. Running invocations end as `Died`. Do nothing if it has ended."""
        self._child.stop()
        self._reader.join()
        with self._lock:
            self._connection.close()

    def _read_answers(self) -> None:
        """Read answers until the connection ends."""
        try:
            while True:
                self._handle_answer(*self._connection.recv())
        except (EOFError, OSError):
            return  # the process has ended, and its end of the connection is closed

    def _handle_answer(self, kind: str, *content: Any) -> None:
        if kind != "done":
            self.ready.set_result((kind, *content))
            return
        number, failure, outputs = content
        with self._lock:
            future = self._waiting.pop(number)
        given = tuple((name, Typed(kind, value)) for name, kind, value in outputs)
        future.set_result(Raised(*failure) if failure else Returned(given))

    def _ended(self, code: int) -> None:
        """Set the result of all waiting futures to `Died`, after reading the answers that were sent before the end."""
        self._reader.join(_LAST_ANSWERS_TIMEOUT)
        with self._lock:
            self.exit_code = code
            unanswered = list(self._waiting.values())
            self._waiting.clear()
        if not self.ready.done():
            self.ready.set_result(("ended", code))
        for future in unanswered:
            future.set_result(Died(code))
