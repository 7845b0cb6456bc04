"""Read the pages of docs/ and the README as tests need them: their sections, code blocks, files and commands."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = "../README.md"
PAGES = [README, *sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """Return the text of a page."""
    return (ROOT / "docs" / name).read_text()


def section(name: str, heading: str) -> str:
    """Return the part of a page below a heading, such as "## Alarms", up to the next one of its level or above.

    Raises:
        AssertionError: the page has no such heading, or several.
    """
    _, *after = re.split(rf"^{re.escape(heading)}$", page(name), flags=re.MULTILINE)
    assert len(after) == 1, f"{name} has {len(after)} headings {heading!r}"
    level = len(heading) - len(heading.lstrip("#"))
    return re.split(rf"^#{{1,{level}}} ", after[0], flags=re.MULTILINE)[0]


def blocks_of(text: str, language: str) -> list[str]:
    """Return the blocks of code of a text in a language, in their order."""
    return [code for marked, code in BLOCK.findall(text) if marked == language]


def blocks(name: str, language: str) -> list[str]:
    """Return the page's blocks of code in a language, in their order."""
    return blocks_of(page(name), language)


def files(text: str) -> dict[str, str]:
    """Return the files that a text gives in full: the code below a line that is a path and nothing else."""
    return dict(FILE.findall(text))


def anchors(text: str) -> set[str]:
    """Return what the headings of a page can be linked by, as GitHub makes it of them."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def commands(block: str) -> list[str]:
    """Return the commands of a console block, without their prompt."""
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
