"""The page of shapes that functions have in practice: each block of Python is a test, and passes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from docs.pages import blocks, page

PAGE = "how-to.md"


def examples() -> dict[str, Any]:
    """Return each test that the page shows, by its name, from a block that is a module of its own."""
    found: dict[str, Any] = {}
    for block in blocks(PAGE, "python"):
        names: dict[str, Any] = {}
        exec(compile(block, PAGE, "exec"), names)  # our own page
        found |= {name: value for name, value in names.items() if name.startswith("test_")}
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_shows_what_works(name: str, request: pytest.FixtureRequest) -> None:
    example = EXAMPLES[name]
    example(**{fixture: request.getfixturevalue(fixture) for fixture in inspect.signature(example).parameters})


def test_every_section_has_a_block_that_is_tested() -> None:
    sections = page(PAGE).split("\n## ")[1:]

    assert [part.partition("\n")[0] for part in sections if "def test_" not in part] == []
