"""What `func azure functionapp publish` would send, and what the remote build makes of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from deadlines import DEADLINE
from infra.azure.bicep import ROOT
from infra.azure.wheels import wheels_for

PACKAGES = Path(".python_packages", "lib", "site-packages")
NEVER = {".git", ".vscode", ".funcignore", ".gitignore", "local.settings.json", "project.lock.json"}
"""What `func` leaves out in any case (azure-functions-core-tools, `FileSystemHelpers.GetLocalFiles`)."""


def denied(lines: list[str]) -> Callable[[str], bool]:
    """Return a function that is True if `func` leaves a path out, as it reads `.funcignore` (azure-functions-core-tools, `GitIgnoreParser`).

    Each line is a pattern for the beginning of the path, up to the end of a word: `*` is something without a slash, `**` something. What
    one of those with `!` lets in stays in, wherever in the file it stands.
    """
    out = beginning([line for line in lines if not line.startswith("!")])
    stays = beginning([line.removeprefix("!") for line in lines if line.startswith("!")])
    return lambda path: not stays.match(path) and out.match(path) is not None


def beginning(lines: list[str]) -> re.Pattern[str]:
    """Return the beginnings that these patterns are for."""
    parts = [re.escape(line.removeprefix("/")).replace(r"\*\*", ".+").replace(r"\*", "[^/]+") for line in lines]
    return re.compile(rf"(?:{'|'.join(parts) or '(?!)'})\b", re.ASCII)


def patterns() -> list[str]:
    """Return the lines of `.funcignore`."""
    lines = (ROOT / ".funcignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def published(root: Path = ROOT) -> set[str]:
    """Return the files that are published, as paths from the root."""
    return set(kept(root, "", denied(patterns())))


def kept(root: Path, folder: str, out: Callable[[str], bool]) -> Iterator[str]:
    """Yield the files below a folder that are not left out."""
    for entry in os.scandir(root / folder):
        path = f"{folder}{entry.name}"
        if entry.name in NEVER or out(path):
            continue
        if entry.is_dir():
            yield from kept(root, f"{path}/", out)
        else:
            yield path


def publish(folder: Path) -> None:
    """Copy what is published to a folder."""
    for path in published():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)


def build(folder: Path, wheels: Path) -> None:
    """Install requirements.txt as the remote build does (Oryx, `PythonBashBuildSnippet`), from wheels instead of an index.

    Raises:
        AssertionError: pip failed; the message is all that it printed.
    """
    wheels.mkdir()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheels_for([*project["project"]["optional-dependencies"]["azure"], *project["build-system"]["requires"]], wheels)
    install = ["install", "--prefer-binary", "-r", "requirements.txt", f"--target={PACKAGES}", "--upgrade"]
    offline = ["--no-index", f"--find-links={wheels}", "--no-cache-dir", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *install, *offline],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
