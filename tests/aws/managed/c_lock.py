"""A lock of the C library: while a thread waits for it, no signal reaches Python code, and other threads run."""

from __future__ import annotations

import ctypes

BYTES_OF_A_MUTEX = 64  # 40 on Linux x86-64, and no more than this elsewhere


class CLock:
    """A mutex that is held from the start."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)
        self._mutex = ctypes.create_string_buffer(BYTES_OF_A_MUTEX)  # zeros are PTHREAD_MUTEX_INITIALIZER
        self.wait()

    def wait(self) -> None:
        """Wait inside C code until it is released; an interrupted wait goes on (pthread_mutex_lock(3))."""
        self._libc.pthread_mutex_lock(self._mutex)

    def release(self) -> None:
        """Release it."""
        self._libc.pthread_mutex_unlock(self._mutex)
