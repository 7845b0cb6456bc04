"""Some Functions hosts: forked from a process that has imported all, one after the other that dies, until standard input ends."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from soak.functions_host import serve

HOSTS = 3
_LOOK = 0.05  # seconds
_STDIN = 0


def forked(work: Callable[[], None]) -> int:
    """A process that works until it dies; gives its id."""
    if pid := os.fork():
        return pid
    try:
        work()
    finally:
        os._exit(1)


def keep(work: Callable[[], None]) -> None:
    """Keep the hosts alive; a byte on standard input has one of them killed, its end all."""
    running = [forked(work) for _ in range(HOSTS)]
    while True:
        if select.select([_STDIN], [], [], _LOOK)[0]:
            if not (order := os.read(_STDIN, 1)):
                break
            os.kill(running[order[0] % HOSTS], signal.SIGKILL)
        running = [forked(work) if os.waitpid(pid, os.WNOHANG)[0] else pid for pid in running]
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    connection_string, queue, error_queue, ledger = sys.argv[1:]
    keep(lambda: serve(connection_string, queue, error_queue, Path(ledger)))
