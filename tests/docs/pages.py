"""The pages of docs/ as tests read them: their blocks of code, by language."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """The text of a page."""
    return (ROOT / "docs" / name).read_text()


def blocks(name: str, language: str) -> list[str]:
    """The page's blocks of code in a language, in their order."""
    return [code for marked, code in BLOCK.findall(page(name)) if marked == language]


def anchors(text: str) -> set[str]:
    """What the headings of a page can be linked by, as GitHub makes it of them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def commands(block: str) -> list[str]:
    """The commands of a console block, without their prompt."""
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
