"""Install each distribution into an environment of its own, where there is nothing else, and run it there."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from release.distributions import Built, run, version_of


def findings(built: Built) -> Iterator[str]:
    """Yield why a distribution does not install or run where only the files beside it are to be had."""
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder, "bin", "python"))
        pip = (sys.executable, "-m", "pip", "--python", python)
        version = version_of(built.distribution)
        wanted = f"{built.distribution.name}=={version}"
        options = ("--no-deps",) if built.distribution.alone else ()
        offline = (*options, "--no-index", "--find-links", str(built.wheel.parent), "--only-binary", ":all:")
        try:
            run(sys.executable, "-m", "venv", "--without-pip", folder)
            run(*pip, "install", "--quiet", "--disable-pip-version-check", *offline, wanted)
            run(python, "-I", "-W", "error", "-c", built.distribution.program)
            said = run(*pip, "show", built.distribution.name)
        except RuntimeError as error:
            yield f"{built.distribution.name} does not run in a clean environment: {error}"
            return
        if f"Version: {version}" not in said.splitlines():
            yield f"{built.distribution.name} {version} installs as another version: {said.splitlines()[1]}"
