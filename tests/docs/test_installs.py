"""What the pages install of this project comes from the clone, for no package index has it, and has the extras that they name."""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import Any

import pytest

from docs.pages import PAGES, ROOT, blocks, commands

FROM_CLONE = re.compile(r"(?P<folder>\.(?:/[\w/]+)?|\.\./recoverable(?:/[\w/]+)?)(?:\[(?P<extra>[\w-]+)\])?")
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


@pytest.mark.parametrize(("name", "command"), INSTALLS)
def test_what_it_needs_of_ours_is_installed_beside_it(name: str, command: str) -> None:
    words = [word.partition("[") for word in shlex.split(command.partition("pip install")[2], comments=True)]
    given = {below(folder): extra.strip("]") for folder, _, extra in words if FROM_CLONE.fullmatch(folder)}

    assert {sibling for folder, extra in given.items() for sibling in needed(folder, extra)} <= given.keys(), name


def needed(folder: str, extra: str) -> set[str]:
    """Return the folders of the distributions of this clone that a project, or its extra, depends on."""
    project = project_in(folder)
    wanted = [*project["dependencies"], *project.get("optional-dependencies", {}).get(extra, [])]
    names = {re.split(r"[\[=<>;~! ]", each)[0] for each in wanted}
    direct = {FOLDERS[name] for name in names if name in FOLDERS}
    return direct.union(*(needed(each, "") for each in direct))


FOLDERS = {"recoverable": ".", "recoverable-operate": "infra/operate", "recoverable-local": "infra/local"}


def below(folder: str) -> str:
    """Return a folder as it lies in the clone."""
    return folder.removeprefix("../recoverable").removeprefix("./").strip("/") or "."


def project_in(folder: str) -> dict[str, Any]:
    """Return the table `project` of the pyproject.toml in a folder of the clone."""
    text = (ROOT / below(folder) / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)["project"]
    return found


def extras(folder: str) -> set[str]:
    """Return the extras of the project in a folder of the clone."""
    return set(project_in(folder).get("optional-dependencies", {}))


def test_each_page_was_read() -> None:
    assert {"deploy/check.md", "use/local-aws.md", "use/testing.md", "../README.md"} <= {name for name, _ in INSTALLS}
