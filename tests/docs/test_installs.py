"""What the pages install of this project comes from the clone, for no package index has it, and has the extras that they name."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from docs.pages import PAGES, ROOT, blocks, commands

FROM_CLONE = re.compile(r"(?P<folder>\.|\.\./recoverable(?:/[\w/]+)?)(?:\[(?P<extra>[\w-]+)\])?")
"""The clone is the current folder, or lies beside it."""

INSTALLS = [
    (name, command)
    for name in PAGES
    for block in blocks(name, "console")
    for command in commands(block)
    if "pip install" in command
]


@pytest.mark.parametrize(("name", "command"), INSTALLS)
def test_what_is_ours_is_installed_from_the_clone(name: str, command: str) -> None:
    words = shlex.split(command.partition("pip install")[2], comments=True)

    for word in words:
        assert not word.startswith("recoverable"), f"{name}: no index has {word}"
        if found := FROM_CLONE.fullmatch(word):
            assert found["extra"] is None or found["extra"] in extras(found["folder"])


def extras(folder: str) -> set[str]:
    """Return the extras of the project in a folder of the clone."""
    path = ROOT / Path(folder.removeprefix("../recoverable").strip("/") or ".")
    project = tomllib.loads((path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project.get("optional-dependencies", {}))


def test_each_page_was_read() -> None:
    assert {"check.md", "local-lambda-host.md", "testing.md", "../README.md"} <= {name for name, _ in INSTALLS}
