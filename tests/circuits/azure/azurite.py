"""Azurite's table storage on loopback: installed once by npm, into the virtual environment that runs the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.starting import free_port, listening

HERE = Path(__file__).parent
INSTALLED = Path(sys.prefix) / "azurite"
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
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the connection string of an account in a table storage that remembers nothing."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not there to install Azurite with: the circuit in table storage is not tested")
    port = free_port()
    place = ["--tableHost", "127.0.0.1", "--tablePort", str(port), "--inMemoryPersistence"]
    quietly = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    with listening([installed(), *place, *quietly], port, tmp_path_factory.mktemp("azurite") / "log"):
        yield (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"TableEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
        )
