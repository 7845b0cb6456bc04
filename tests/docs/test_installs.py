"""What the pages install of this project has the extras that they name; from a clone, also what it needs of its neighbours."""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import Any

import pytest

from docs.pages import PAGES, ROOT, blocks, commands

OURS = re.compile(r"(?:\.\./)?(?P<name>recoverable(?:-\w+)?(?:/infra/\w+)?)(?:\[(?P<extras>[\w,-]+)\])?")
"""By its name on an index, or by its folder in a clone that lies beside."""

FOLDERS = {"recoverable": ".", "recoverable-operate": "infra/operate", "recoverable-local": "infra/local"}
INSTALLS = sorted(
    {
        (name, command.partition("pip install")[2])
        for name in PAGES
        for block in blocks(name, "console")
        for command in commands(block)
        if "pip install" in command
    }
)


def project(name: str) -> dict[str, Any]:
    """Return the table `project` of a distribution, by its name or its folder in the clone."""
    folder = FOLDERS.get(name, name.partition("/")[2])
    found: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


@pytest.mark.parametrize(("name", "words"), INSTALLS)
def test_what_is_installed_of_ours_has_the_extras_that_are_named(name: str, words: str) -> None:
    for found in filter(None, map(OURS.fullmatch, shlex.split(words, comments=True))):
        wanted = set((found["extras"] or "").split(",")) - {""}
        assert wanted <= set(project(found["name"]).get("optional-dependencies", {})), name


@pytest.mark.parametrize(("name", "words"), [each for each in INSTALLS if "../recoverable" in each[1]])
def test_from_a_clone_the_neighbours_are_installed_too(name: str, words: str) -> None:
    assert {"../recoverable/infra/operate", "../recoverable/infra/local"} <= set(shlex.split(words, comments=True)), (
        name
    )
