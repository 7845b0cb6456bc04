"""The page for those who change the package names what there is."""

from __future__ import annotations

import re

import pytest

from docs.pages import ROOT, page
from sources import RUNTIME_FOLDERS

CONTRIBUTING = page("../CONTRIBUTING.md")


@pytest.mark.parametrize("room", sorted(RUNTIME_FOLDERS))
def test_it_names_each_room_of_the_runtime(room: str) -> None:
    assert f"`{room}/`" in CONTRIBUTING


def test_it_names_commands_that_the_makefile_has() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    assert set(re.findall(r"`make\s(\w+)", CONTRIBUTING)) <= targets


def test_it_is_one_page() -> None:
    assert len(CONTRIBUTING.splitlines()) <= 120
