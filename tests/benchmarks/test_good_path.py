"""What a good record costs beside Powertools, in instructions: the ratios of docs/deploy/cost.md."""

from __future__ import annotations

import shutil
import sys

import pytest

from good_path import Case, instructions

MOST = {
    Case("id", "plain", 1): 0.85,
    Case("id", "plain", 10): 1.17,
    Case("id", "plain", 1_000): 1.71,
    Case("id", "attribute", 10): 1.28,
    Case("json", "plain", 10): 0.93,
}
"""The ratios on Python 3.11; raised only in the commit that adds what needs it."""


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the ratios are those of Python 3.11")
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind, which counts instructions, is not installed")
def test_a_good_record_keeps_its_ratios_to_powertools() -> None:
    cases = [*MOST]
    ratios = {
        case: ours / theirs
        for case, ours, theirs in zip(cases, instructions(cases, "ours"), instructions(cases, "theirs"), strict=True)
    }

    assert {case: round(ratio, 2) for case, ratio in ratios.items() if ratio > MOST[case]} == {}, ratios
