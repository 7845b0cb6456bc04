"""Read the changelog as releases, check its form, and cut a release from what is not released yet. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

UNRELEASED = "Unreleased"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
"""The sections of a release (Keep a Changelog 1.1.0)."""

_RELEASE = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
_KIND = re.compile(r"^### (.+)$", re.MULTILINE)
_VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Release:
    """One release of the changelog: its version or `Unreleased`, its date, and its text."""

    version: str
    on: str | None
    text: str


def releases(changelog: str) -> tuple[Release, ...]:
    """Return the releases of a changelog, as they stand in it."""
    _, *parts = _RELEASE.split(changelog)
    return tuple(
        Release(version, on, text.strip())
        for version, on, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    )


def findings(changelog: str) -> Iterator[str]:
    """Yield what is wrong with the form of a changelog."""
    found = releases(changelog)
    if not found or found[0].version != UNRELEASED:
        yield f"CHANGELOG.md does not begin with the section [{UNRELEASED}]; write `## [{UNRELEASED}]`"
    released = [each for each in found if each.version != UNRELEASED]
    for each in released:
        if not _VERSION.fullmatch(each.version) or each.on is None:
            yield f"CHANGELOG.md: the release {each.version} needs a version and a date; write `## [1.2.3] - 2026-01-31`"
    versions = [_numbers(each.version) for each in released if _VERSION.fullmatch(each.version)]
    if versions != sorted(set(versions), reverse=True):
        yield "CHANGELOG.md: the releases are not in order; write the newest first, each once"
    for each in found:
        yield from _kind_findings(each)


def release_findings(changelog: str, version: str) -> Iterator[str]:
    """Yield what of a changelog stands against the release of a version."""
    newest = next((each for each in releases(changelog) if each.version != UNRELEASED), None)
    if newest is None or newest.version != version:
        yield f"CHANGELOG.md has no release {version} on top; run `make cut VERSION={version}`"
    if any(each.version == UNRELEASED and each.text for each in releases(changelog)):
        yield f"CHANGELOG.md has changes under [{UNRELEASED}]; run `make cut VERSION=…`, with a version above the newest"


def cut(changelog: str, version: str, on: date) -> str:
    """Return a changelog in which all that is not released yet is the release of a version.

    Raises:
        ValueError: it is no version above the newest, or there is nothing to release.
    """
    found = releases(changelog)
    newest = next((each.version for each in found if each.version != UNRELEASED), "0.0.0")
    if not _VERSION.fullmatch(version) or _numbers(version) <= _numbers(newest):
        raise ValueError(f"{version!r} is no version above {newest}; write three numbers, such as {_next(newest)}")
    if not any(each.version == UNRELEASED and each.text for each in found):
        raise ValueError(f"CHANGELOG.md has nothing under [{UNRELEASED}], so there is nothing to release")
    heading = f"## [{UNRELEASED}]"
    return changelog.replace(heading, f"{heading}\n\n## [{version}] - {on.isoformat()}", 1)


def _kind_findings(release: Release) -> Iterator[str]:
    kinds = _KIND.findall(release.text)
    for kind in dict.fromkeys(kinds):
        if kind not in KINDS:
            yield f"CHANGELOG.md: {release.version} has a section {kind!r}; write one of {', '.join(KINDS)}"
        elif kinds.count(kind) > 1:
            yield f"CHANGELOG.md: {release.version} has {kinds.count(kind)} sections {kind!r}; write one"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _next(version: str) -> str:
    major, minor, _ = _numbers(version)
    return f"{major}.{minor + 1}.0"
