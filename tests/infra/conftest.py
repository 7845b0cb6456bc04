"""What the tests of the built template share: one `sam build`."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.commands import RUNTIME, sam
from infra.sam_template import TEMPLATE


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that `sam build` fills; the Python it looks for is the one that runs this test."""
    folder = tmp_path_factory.mktemp("sam") / "build"
    runtime = f"PythonRuntime={RUNTIME}"
    sam("build", "--template", str(TEMPLATE), "--build-dir", str(folder), "--parameter-overrides", runtime)
    return folder
