"""The page of shapes that functions have in practice: each block of Python is a test, and passes."""

from __future__ import annotations

import pytest

from docs.pages import examples, page, run_example

PAGE = "use/how-to.md"


EXAMPLES = examples(PAGE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_shows_what_works(name: str, request: pytest.FixtureRequest) -> None:
    run_example(EXAMPLES[name], request)


def test_every_section_has_a_block_that_is_tested() -> None:
    sections = page(PAGE).split("\n## ")[1:]

    assert [part.partition("\n")[0] for part in sections if "def test_" not in part] == []
