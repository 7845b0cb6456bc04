"""The installed distributions as wheels again: an index for a build that may not reach the network."""

from __future__ import annotations

import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def wheels_for(requirements: list[str], folder: Path) -> None:
    """Fill a folder with the wheels of what is required, and of what that requires.

    Args:
        requirements: such as "azure-servicebus>=7.14".
        folder: where the wheels go.

    Raises:
        importlib.metadata.PackageNotFoundError: one is not installed.
    """
    seen: set[str] = set()
    remaining = [Requirement(each) for each in requirements]
    while remaining:
        wanted = remaining.pop()
        if (key := f"{wanted.name.lower()}[{sorted(wanted.extras)}]") in seen:
            continue
        seen.add(key)
        found = distribution(wanted.name)
        packed(found, folder)
        remaining += [each for line in found.requires or [] if applies(each := Requirement(line), wanted.extras)]


def applies(requirement: Requirement, extras: set[str]) -> bool:
    """True if a requirement is one here, with these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def packed(found: Distribution, folder: Path) -> None:
    """Pack a distribution; its scripts stay out, for the record's paths lead to them out of the wheel."""
    tags = [
        line.removeprefix("Tag: ") for line in (found.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: ")
    ]
    name = found.metadata["Name"].replace("-", "_").replace(".", "_")
    with zipfile.ZipFile(folder / f"{name}-{found.version}-{tags[0]}.whl", "w") as wheel:
        for path in found.files or []:
            if ".." not in path.parts and path.suffix != ".pyc":
                wheel.write(str(path.locate()), str(path))
