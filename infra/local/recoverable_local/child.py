"""Start a process for functions, pass on the lines it writes, report its end, and kill everything that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PIPE_TIMEOUT = 1.0  # seconds; a process that left the process group can keep the pipe open for any time


class Child:
    """A process, from its start to its end.

    Args:
        command: What it runs.
        folder: Where it runs.
        environment: Its environment variables.
        descriptors: The open files that it gets beside its standard ones.
        on_line: Called with its process id and each line that it writes.
        on_end: Called with its exit code, once the process has ended and its output was read.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        descriptors: Sequence[int] = (),
        on_line: Callable[[int, str], None],
        on_end: Callable[[int], None],
    ) -> None:
        self._on_line, self._on_end = on_line, on_end
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, pass_fds=descriptors,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, encoding="utf-8", errors="backslashreplace",
            start_new_session=True,  # Ctrl-C reaches the host alone, and one signal reaches all that a function started
        )  # fmt: skip
        self._pump = threading.Thread(target=self._read_lines, name=f"log-{self.pid}", daemon=True)
        self._watch = threading.Thread(target=self._wait_for_end, name=f"watch-{self.pid}", daemon=True)
        self._pump.start()
        self._watch.start()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Kill the process and everything that it started, and wait until `on_end` was called. Do nothing if it has ended."""
        if self.alive:
            self._kill()
        self._watch.join()

    def _read_lines(self) -> None:
        """Pass on each line of output. A pipe that nobody reads fills up, and the function then hangs in `print`."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._on_line(self.pid, line.rstrip("\n"))

    def _wait_for_end(self) -> None:
        code = self._process.wait()
        self._kill()  # processes that a function started end with it, as in a sandbox, and so close the pipe
        self._pump.join(_PIPE_TIMEOUT)
        self._on_end(code)

    def _kill(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (
            ProcessLookupError,
            PermissionError,
        ):  # macOS raises PermissionError when all processes of the group have ended
            return  # no process is left in the group
