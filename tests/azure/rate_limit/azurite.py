"""Azurite's table storage on loopback: installed once by npm, into the virtual environment that runs the tests."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from infra.cloud import free_port

HERE = Path(__file__).parent
INSTALLED = Path(sys.prefix) / "azurite"
TIMEOUT = 60.0
"""Seconds for Azurite to listen, which takes two on a machine of its own."""

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account and the key that every Azurite has (Azurite, "Default Storage Account"): no secret."""


def installed() -> Path:
    """Return Azurite's table service, as the lock file has it; install it again when npm left it unfinished."""
    wanted, done = HERE / "package-lock.json", INSTALLED / "done.json"
    if not done.exists() or done.read_bytes() != wanted.read_bytes():
        INSTALLED.mkdir(exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / name, INSTALLED / name)
        npm = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        ended = subprocess.run(npm, cwd=INSTALLED, capture_output=True, text=True, timeout=240, check=False)
        assert ended.returncode == 0, ended.stderr
        shutil.copyfile(wanted, done)
    return INSTALLED / "node_modules" / ".bin" / "azurite-table"


@pytest.fixture(scope="session")
def azurite() -> Iterator[str]:
    """Yield the connection string of an account in a table storage that remembers nothing."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not there to install Azurite with: the circuit in table storage is not tested")
    port = free_port()
    place = ["--tableHost", "127.0.0.1", "--tablePort", str(port), "--inMemoryPersistence"]
    server = subprocess.Popen(
        [installed(), *place, "--silent", "--disableTelemetry", "--skipApiVersionCheck"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, server)
        yield (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"TableEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
        )
    finally:
        server.terminate()
        server.wait(TIMEOUT)


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server takes connections."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        assert server.poll() is None, f"Azurite ended with status {server.returncode}"
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"waited {TIMEOUT:.0f} s in vain for Azurite to listen")
