"""Every link from page to page leads to a file that is there, and to a heading in it."""

from __future__ import annotations

import re

import pytest

from docs.pages import PAGES, ROOT, anchors, page

LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]+))?\)")


OTHERS = ("CHANGELOG.md", "CONTRIBUTING.md", "infra/local/README.md", "infra/operate/README.md")


@pytest.mark.parametrize("name", [*PAGES, *(f"../{other}" for other in OTHERS)])
def test_a_link_within_the_repository_leads_somewhere(name: str) -> None:
    here = (ROOT / "docs" / name).resolve()

    for path, anchor in LINK.findall(page(name)):
        target = (here.parent / path).resolve() if path else here
        assert target.exists(), path
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), anchor
