"""The changelog reads as releases, and a release is cut from what is not released yet."""

from __future__ import annotations

from datetime import date

import pytest

from release.changelog import Release, cut, findings, release_findings, releases
from release.distributions import ROOT

TEXT = """# Changelog

## [Unreleased]

### Added

- A new thing.

## [0.2.0] - 2026-02-01

### Fixed

- An old one.

## [0.1.0] - 2026-01-01

### Added

- The first.
"""
CUT = TEXT.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [0.3.0] - 2026-03-01\n")


def test_the_changelog_of_this_repository_has_the_form_of_releases() -> None:
    assert list(findings((ROOT / "CHANGELOG.md").read_text())) == []


def test_a_changelog_is_read_as_releases() -> None:
    assert releases(TEXT) == (
        Release("Unreleased", None, "### Added\n\n- A new thing."),
        Release("0.2.0", "2026-02-01", "### Fixed\n\n- An old one."),
        Release("0.1.0", "2026-01-01", "### Added\n\n- The first."),
    )


WRONG = {
    "no unreleased part": (
        TEXT.replace("[Unreleased]", "[0.3.0] - 2026-03-01"),
        "CHANGELOG.md does not begin with the section [Unreleased]; write `## [Unreleased]`",
    ),
    "a release without a date": (
        TEXT.replace(" - 2026-02-01", ""),
        "CHANGELOG.md: the release 0.2.0 needs a version and a date; write `## [1.2.3] - 2026-01-31`",
    ),
    "releases out of order": (
        TEXT.replace("0.2.0", "0.0.9"),
        "CHANGELOG.md: the releases are not in order; write the newest first, each once",
    ),
    "a section that is none": (
        TEXT.replace("Fixed", "Mended"),
        "CHANGELOG.md: 0.2.0 has a section 'Mended'; write one of Added, Changed, Deprecated, Removed, Fixed, Security",
    ),
    "a section twice": (
        TEXT.replace("- A new thing.", "- A new thing.\n\n### Added\n\n- Another."),
        "CHANGELOG.md: Unreleased has 2 sections 'Added'; write one",
    ),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_another_form_is_found(text: str, said: str) -> None:
    assert list(findings(text)) == [said]


def test_what_is_not_released_becomes_a_release_of_that_day() -> None:
    assert cut(TEXT, "0.3.0", date(2026, 3, 1)) == CUT
    assert list(release_findings(CUT, "0.3.0")) == []


@pytest.mark.parametrize("version", ["0.2.0", "0.1.9", "1.0", "v1.0.0"])
def test_a_version_that_is_none_above_the_newest_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"is no version above 0\.2\.0; write three numbers, such as 0\.3\.0"):
        cut(TEXT, version, date(2026, 3, 1))


def test_nothing_to_release_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nothing under \[Unreleased\]"):
        cut(CUT, "0.4.0", date(2026, 3, 1))


def test_a_version_that_is_not_cut_is_not_published() -> None:
    assert list(release_findings(TEXT, "0.3.0")) == [
        "CHANGELOG.md has no release 0.3.0 on top; run `make cut VERSION=0.3.0`",
        "CHANGELOG.md has changes under [Unreleased]; run `make cut VERSION=…`, with a version above the newest",
    ]
