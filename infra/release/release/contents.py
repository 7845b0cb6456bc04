"""Check what is in the built files: all of the package that is committed, and nothing else."""

from __future__ import annotations

import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from release.distributions import Built, Distribution, run

KIB = 1024
ALWAYS = {"PKG-INFO", "README.md", "LICENSE", "pyproject.toml"}
"""What each sdist has beside the package."""


def findings(built: Built) -> Iterator[str]:
    """Yield what is missing in the files of one distribution, and what should not be there."""
    name, expected = built.distribution.name, committed(built.distribution)
    in_wheel = files_of_wheel(built.wheel)
    yield from _differences(f"the wheel of {name}", in_wheel, expected)
    if f"{built.distribution.package}/py.typed" not in in_wheel:
        yield f"the wheel of {name} has no py.typed, so nobody's type checker sees its types"
    for missing in sorted(ALWAYS - files_of_sdist(built.sdist)):
        yield f"the sdist of {name} has no {missing}"
    yield from _differences(f"the wheel made of the sdist of {name}", wheel_of_sdist(built.sdist), expected)


def committed(distribution: Distribution) -> set[str]:
    """Return the files of a distribution's package that are committed or staged, as they are named in a wheel."""
    source = distribution.root / distribution.source
    listed = run("git", "ls-files", ".", cwd=source).splitlines()
    return {f"{distribution.package}/{path}" for path in listed}


def files_of_wheel(wheel: Path) -> set[str]:
    """Return the files of a wheel, without its metadata."""
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


@dataclass(frozen=True, slots=True)
class Size:
    """How large a wheel is: its modules, and its size in KiB, packed and unpacked."""

    modules: int
    packed: int
    unpacked: int


def size_of(wheel: Path) -> Size:
    """Return how large a wheel is."""
    inside = zipfile.ZipFile(wheel).infolist()
    modules = sum(each.filename.endswith(".py") for each in inside)
    return Size(modules, wheel.stat().st_size // KIB, sum(each.file_size for each in inside) // KIB)


def files_of_sdist(sdist: Path) -> set[str]:
    """Return the files of an sdist, without its top folder."""
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def wheel_of_sdist(sdist: Path) -> set[str]:
    """Build a wheel from an sdist, as one who installs from it does, and return the wheel's files."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        [unpacked] = Path(folder).iterdir()
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", f"{folder}/made", cwd=unpacked)
        [wheel] = Path(folder, "made").glob("*.whl")
        return files_of_wheel(wheel)


def _differences(what: str, found: set[str], expected: set[str]) -> Iterator[str]:
    for name in sorted(expected - found):
        yield f"{what} lacks {name}, which is committed"
    for name in sorted(found - expected):
        yield f"{what} has {name}, which is not committed"
