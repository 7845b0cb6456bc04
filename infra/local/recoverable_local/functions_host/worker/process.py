"""The worker process from the host's side: started, asked over one connection, read, watched and killed."""

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
_BRIEFLY = 1.0  # seconds, in which an answer that came before the end is heard


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
        self._waiting: dict[int, Future[Outcome]] = {}
        self._numbers, self._lock = count(1), threading.Lock()
        self._connection, theirs = Pipe()
        self._ear = threading.Thread(target=self._hear, name="worker", daemon=True)
        self._ear.start()
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
        """Its number."""
        return self._child.pid

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
        self._child.stop()
        self._ear.join()
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
        given = tuple((name, Typed(kind, value)) for name, kind, value in outputs)
        future.set_result(Raised(*failure) if failure else Returned(given))

    def _ended(self, code: int) -> None:
        """Tell all who wait for an answer; what was said before the end counts."""
        self._ear.join(_BRIEFLY)
        with self._lock:
            self.exit_code = code
            left = list(self._waiting.values())
            self._waiting.clear()
        if not self.ready.done():
            self.ready.set_result(("ended", code))
        for future in left:
            future.set_result(Died(code))
