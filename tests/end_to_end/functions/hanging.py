"""A function of which one message waits in C code, where no signal stops it, until a file is there."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from datetime import timedelta
from pathlib import Path

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint

LIBC = ctypes.CDLL(None)
PAUSE, PATIENCE = 0.05, 3600


def work(message: Message) -> None:
    assert threading.current_thread() is threading.main_thread()
    print(f"\nRUN {message.text} in {os.getpid()}", flush=True)  # noqa: T201  # the test reads the function's log
    gate = Path(os.environ["GATE"])
    if message.text == "hangs" and not gate.exists():
        wait_in_c(gate)


def wait_in_c(gate: Path) -> None:
    """Wait for a lock of the C library that another thread releases; an interrupted wait goes on."""
    lock = ctypes.create_string_buffer(64)
    LIBC.pthread_mutex_lock(lock)

    def release() -> None:
        end = time.monotonic() + PATIENCE
        while not gate.exists() and time.monotonic() < end:
            time.sleep(PAUSE)
        LIBC.pthread_mutex_unlock(lock)

    threading.Thread(target=release, daemon=True).start()
    LIBC.pthread_mutex_lock(lock)


ladder = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=1)))
handler = SqsEndpoint(work, ladder, settle_within=timedelta(seconds=2))
