"""The reference is what docstrings, parsers and rules make of it, and names each header and variable."""

from __future__ import annotations

import re

import pytest

from docs.pages import page
from recoverable import headers
from reference import PAGES, made
from sources import runtime


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_what_is_made(name: str) -> None:
    """To make it anew: python infra/site/reference.py."""
    assert page(f"reference/{name}") == made(PAGES[name]())


def test_each_header_of_an_error_copy_and_of_a_retry_is_named() -> None:
    names = {
        value for value in vars(headers).values() if isinstance(value, str) and re.fullmatch(r"Recoverable\.\w+", value)
    }

    assert {name for name in names if f"`{name}`" not in page("reference/headers.md")} == set()


def test_each_variable_that_the_runtime_reads_is_named() -> None:
    read = {
        name for path in runtime() for name in re.findall(r'"(RECOVERABLE_[A-Z_]+)"', path.read_text(encoding="utf-8"))
    }

    pages = page("reference/variables.md") + page("use/retries.md")
    assert {name for name in read if f"`{name}`" not in pages} == set()
