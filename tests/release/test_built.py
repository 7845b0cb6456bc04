"""What would be published is right as it is built here: metadata, versions and contents; `make release` runs each in a clean environment too."""

from __future__ import annotations

from pathlib import Path

import pytest

from release import contents, metadata
from release.distributions import DISTRIBUTIONS, ROOT, Built, build_all
from release.environments import findings as environment_findings

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheels")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, ...]:
    return build_all(tmp_path_factory.mktemp("dist"))


def test_every_pyproject_of_the_repository_is_a_distribution_that_is_built() -> None:
    listed = {path.parent for path in (ROOT, *(ROOT / "infra").iterdir()) for path in path.glob("pyproject.toml")}

    assert {distribution.root.resolve() for distribution in DISTRIBUTIONS} == listed


def test_the_metadata_is_what_the_index_takes(built: tuple[Built, ...]) -> None:
    found = [list(metadata.findings(metadata.metadata_of(each.wheel), name=each.distribution.name)) for each in built]

    assert (found, list(metadata.version_findings(built))) == ([[]] * len(built), [])


def test_the_files_hold_the_package_and_nothing_else(built: tuple[Built, ...]) -> None:
    assert [finding for each in built for finding in contents.findings(each)] == []


def test_a_distribution_that_does_not_run_alone_is_found(built: tuple[Built, ...], tmp_path: Path) -> None:
    """What an operator runs needs the runtime, which is not in this folder."""
    alone = tmp_path / built[1].wheel.name
    alone.write_bytes(built[1].wheel.read_bytes())

    [finding] = environment_findings(Built(built[1].distribution, alone, alone))

    assert finding.startswith("recoverable-operate does not run in a clean environment: ")
    assert "No matching distribution found for recoverable==" in finding
