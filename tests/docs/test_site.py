"""The site: its navigation has each page once, and its links lead where those of the repository lead."""

from __future__ import annotations

import tomllib

import pytest

from docs.pages import ROOT
from make_site import for_site, pages

BASE = "https://example.org/recoverable"
CONFIG = tomllib.loads((ROOT / "infra" / "site" / "zensical.toml").read_text(encoding="utf-8"))


def test_the_navigation_has_each_page_once() -> None:
    files = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]

    assert sorted(path for _, path in pages(CONFIG["project"]["nav"])) == sorted(["index.md", *files])


@pytest.mark.parametrize(
    ("source", "link", "on_site"),
    [
        ("docs/use/order.md", "[a](retries.md#delays)", "[a](retries.md#delays)"),
        ("docs/use/order.md", "[a](../run/watch.md)", "[a](../run/watch.md)"),
        ("docs/use/order.md", "[a](#order)", "[a](#order)"),
        ("docs/use/order.md", "[a](https://example.com/x)", "[a](https://example.com/x)"),
        ("docs/use/order.md", "[a](../../template.yaml)", f"[a]({BASE}/blob/main/template.yaml)"),
        ("docs/use/order.md", "[a](../../README.md)", "[a](../index.md)"),
        ("README.md", "[a](docs/use/order.md)", "[a](use/order.md)"),
        ("README.md", "[a](CONTRIBUTING.md)", f"[a]({BASE}/blob/main/CONTRIBUTING.md)"),
        ("README.md", '<img src="docs/pictures/ladder.svg">', '<img src="pictures/ladder.svg">'),
    ],
)
def test_a_link_leads_to_the_page_or_to_the_repository(source: str, link: str, on_site: str) -> None:
    assert for_site(link, source, BASE) == on_site


def test_headings_between_two_marks_are_tabs() -> None:
    text = "<!-- tabs -->\n### AWS\n\none\n\n### Azure\n\ntwo\n<!-- /tabs -->\n"

    assert for_site(text, "docs/x.md", BASE) == '=== "AWS"\n\n    one\n\n=== "Azure"\n\n    two\n'
