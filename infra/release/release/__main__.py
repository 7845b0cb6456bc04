"""Check all that is about to be published, print its sizes, or cut a release: `make release`, `make sizes`, `make cut VERSION=1.2.3`."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from release import changelog, contents, environments, metadata
from release.distributions import DISTRIBUTIONS, ROOT, Built, build_all, version_of, with_version

CHANGELOG = ROOT / "CHANGELOG.md"
INTO = ROOT / "dist"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Return 0, or 1 if something stands against publishing."""
    given = parser().parse_args(arguments)
    if given.command == "cut":
        return cut(given.version)
    if given.command == "sizes":
        return print_sizes()
    shutil.rmtree(INTO, ignore_errors=True)
    built = build_all(INTO)
    against = [*built_findings(built, given.tag), *publishing_findings(built)]
    for path in sorted(INTO.iterdir()):
        print(f"built    {path.relative_to(ROOT)}")
    for finding in against:
        print(f"against  {finding}")
    print("Ready to publish." if not against else f"{len(against)} findings stand against publishing.")
    return 1 if against else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="release", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("check").add_argument("--tag", help="the tag that is to be published, such as v1.2.3")
    commands.add_parser("sizes")
    commands.add_parser("cut").add_argument("version")
    return made


def built_findings(built: Sequence[Built], tag: str | None) -> Iterator[str]:
    """Yield what is wrong with the built files: metadata, versions, contents, and where they do not run."""
    yield from changelog.findings(CHANGELOG.read_text(encoding="utf-8"))
    yield from metadata.version_findings(built, tag)
    for each in built:
        yield from metadata.findings(metadata.metadata_of(each.wheel), name=each.distribution.name)
        yield from contents.findings(each)
        yield from environments.findings(each)


def publishing_findings(built: Sequence[Built]) -> Iterator[str]:
    """Yield what stands against publishing files that are right: addresses and the changelog."""
    for each in built:
        yield from metadata.address_findings(metadata.metadata_of(each.wheel), name=each.distribution.name)
    yield from changelog.release_findings(CHANGELOG.read_text(encoding="utf-8"), version_of(DISTRIBUTIONS[0]))


def print_sizes() -> int:
    """Build each distribution, and print how large its wheel is, packed and unpacked, and how many modules it has. Return 0."""
    with tempfile.TemporaryDirectory() as folder:
        for each in build_all(Path(folder)):
            size = contents.size_of(each.wheel)
            print(
                f"{each.distribution.name:<20} {size.modules:>4} modules {size.packed:>6} KiB, unpacked {size.unpacked:>6} KiB"
            )
    return 0


def cut(version: str) -> int:
    """Make all that is not released yet the release of a version, and set that version in each pyproject.toml. Return 0, or 2 if it is none."""
    try:
        text = changelog.cut(CHANGELOG.read_text(encoding="utf-8"), version, datetime.now(UTC).date())
    except ValueError as error:
        print(f"release: {error}")
        return 2
    CHANGELOG.write_text(text, encoding="utf-8")
    for distribution in DISTRIBUTIONS:
        path = Path(distribution.root / "pyproject.toml")
        old = version_of(distribution)
        path.write_text(with_version(path.read_text(encoding="utf-8"), old, version), encoding="utf-8")
    print(f"{version} is cut. Look at `git diff`, commit, and tag the commit v{version}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
