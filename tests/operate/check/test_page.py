"""The page on `recoverable check` lists the rules as they are."""

from __future__ import annotations

import re
from pathlib import Path

from recoverable.operate.check.rules.every import SQS_RULES

PAGE = (Path(__file__).parents[3] / "docs" / "check.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, str]:
    """Return the table below a heading: what must be right, by the rule's name."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.MULTILINE))


def test_the_page_lists_the_rules_for_sqs() -> None:
    assert rows("What must be right on SQS") == {each.name: each.must for each in SQS_RULES}
