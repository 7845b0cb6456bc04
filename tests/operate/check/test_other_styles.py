"""`recoverable check` finds nothing in templates that do not use this package, in whatever style they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from operate.check.conftest import Check
from operate.check.other_styles import NOTHING, ON_AWS, ON_AZURE, Style


def assert_ends(check: Check, path: Path, style: Style) -> None:
    """Check a file, and compare how it ends, what is left alone, and what was not read."""
    path.write_text(style.text, encoding="utf-8")

    ran = check(str(path))

    lines = ran.out.splitlines()
    status = 2 if not style.ends else 3 if style.ends == NOTHING else 0
    assert (ran.status, ran.err.count("\n")) == (status, status == 2), ran
    assert [line for line in lines if line.startswith("Nothing")] == ([style.ends] if style.ends else [])
    alone = [line for line in lines if line.startswith("left alone")]
    assert alone == [f"left alone, because no code there uses this package: {each}." for each in style.left_alone]
    assert [line.split(": ")[1] for line in lines if line.startswith("not checked: ")] == list(style.unread)


@pytest.mark.parametrize("style", ON_AWS)
def test_a_template_of_another_style_has_no_findings(check: Check, tmp_path: Path, style: str) -> None:
    assert_ends(check, tmp_path / "template.yaml", ON_AWS[style])


@pytest.mark.parametrize("style", ON_AZURE)
def test_an_arm_template_of_another_style_has_no_findings(check: Check, tmp_path: Path, style: str) -> None:
    assert_ends(check, tmp_path / "main.json", ON_AZURE[style])
