"""Start servers as processes of their own, and wait until they listen."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom

from deadlines import DEADLINE, eventually


@contextmanager
def listening(
    command: Sequence[str | Path], port: int, log: Path, env: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Start a server, wait until it takes connections on loopback, and stop it afterwards.

    Args:
        command: what starts it.
        port: where it will listen.
        log: the file that it writes to.
        env: its environment; by default ours.
    """
    with log.open("w") as output:
        server = subprocess.Popen(command, env=env, stdout=output, stderr=subprocess.STDOUT)
    try:
        eventually(
            lambda: takes_connections(port) or server.poll() is not None, f"{command[0]} to listen; its log is {log}"
        )
        assert server.poll() is None, f"{command[0]} ended: {log.read_text()}"
        yield
    finally:
        server.terminate()
        server.wait(DEADLINE)


def takes_connections(port: int) -> bool:
    """True if somebody listens there on loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """Return a port for a server that cannot choose one: below those that the kernel gives to others until the server has it."""
    while takes_connections(port := SystemRandom().randrange(20_000, 32_000)):
        pass
    return port
