"""ministack's SQS on loopback, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STARTING = 60  # seconds
_ENDING = 10  # seconds


@contextmanager
def ministack(folder: Path) -> Iterator[str]:
    """Serve SQS until the end; gives the URL.

    Args:
        folder: where it keeps what it keeps.

    Raises:
        TimeoutError: it does not listen.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [Path(sys.executable).with_name("ministack")],
        env={**os.environ, "BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port)},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(_ENDING)


def _await(port: int) -> None:
    end = time.monotonic() + _STARTING
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if time.monotonic() > end:
            raise TimeoutError(f"ministack does not listen on port {port} after {_STARTING} s")
        time.sleep(0.05)
