"""The check of a release finds what an index would refuse, what its readers would miss, and versions that do not fit."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from release.distributions import DISTRIBUTIONS, ROOT, Built, with_version
from release.metadata import address_findings, findings, version_findings

GOOD = """Metadata-Version: 2.4
Name: recoverable
Version: 1.2.3
Summary: Retries.
Project-URL: Homepage, https://shop.example
Project-URL: Documentation, https://shop.example/docs
Project-URL: Changelog, https://shop.example/changes
Project-URL: Issues, https://shop.example/issues
License-Expression: MIT
License-File: LICENSE
Keywords: retry
Classifier: Typing :: Typed
Requires-Python: >=3.11
Description-Content-Type: text/markdown

# recoverable
"""
REFUSED = {
    "no summary": ("Summary: Retries.\n", "", "a: the metadata has no Summary"),
    "no license": ("License-Expression: MIT\n", "", "a: the metadata has no License-Expression"),
    "no description": ("\n# recoverable\n", "\n", "a: the index shows no description; set readme to a Markdown file"),
    "an unknown classifier": ("Typing :: Typed", "Typing :: Mostly", "a: 'Typing :: Mostly' is no classifier of the index"),
    "no version": ("Version: 1.2.3", "Version: new", "a: the index would refuse the metadata: 'new' is invalid for 'version'"),
}  # fmt: skip


def test_good_metadata_has_no_findings() -> None:
    assert [*findings(GOOD, name="a"), *address_findings(GOOD, name="a")] == []


@pytest.mark.parametrize(("old", "new", "said"), REFUSED.values(), ids=REFUSED)
def test_metadata_that_an_index_or_a_reader_would_miss_is_found(old: str, new: str, said: str) -> None:
    assert list(findings(GOOD.replace(old, new, 1), name="a")) == [said]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://shop.invalid", "a: Homepage is the placeholder https://shop.invalid; write the address of the repository"),
        ("http://shop.example", "a: [project.urls] has no Homepage; write an https address"),
    ],
)  # fmt: skip
def test_an_address_that_nobody_can_open_is_found(address: str, said: str) -> None:
    assert list(address_findings(GOOD.replace("https://shop.example", address, 1), name="a")) == [said]


def built(folder: Path, *metadata: str) -> list[Built]:
    """Return distributions whose wheels hold nothing but this metadata."""
    made = []
    for distribution, text in zip(DISTRIBUTIONS, metadata, strict=False):
        wheel = folder / f"{distribution.package}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"{distribution.package}-1.dist-info/METADATA", text)
        made.append(Built(distribution, wheel, wheel))
    return made


OPERATE = "Name: recoverable-operate\nVersion: {}\nRequires-Dist: recoverable=={}\n"


@pytest.mark.parametrize(
    ("version", "needs", "tag", "said"),
    [
        ("1.2.3", "1.2.3", "v1.2.3", []),
        ("1.2.4", "1.2.3", None, ["the versions differ: {'recoverable': '1.2.3', 'recoverable-operate': '1.2.4'}; run `make cut VERSION=…`"]),
        ("1.2.3", "1.2.2", None, ["recoverable-operate needs recoverable==1.2.2; write ==1.2.3"]),
        ("1.2.3", "1.2.3", "1.2.3", ["the tag is 1.2.3, and the version 1.2.3; tag the commit v1.2.3"]),
    ],
)  # fmt: skip
def test_all_distributions_have_one_version_and_the_tag_is_it(
    tmp_path: Path, version: str, needs: str, tag: str | None, said: list[str]
) -> None:
    assert list(version_findings(built(tmp_path, GOOD, OPERATE.format(version, needs)), tag)) == said


def test_a_cut_sets_the_version_and_the_pins_on_the_other_distributions_alone() -> None:
    text = 'version = "0.1.0"\nlocal = ["recoverable-local[aws]==0.1.0"]\nother = ["thing==0.1.0"]\ntarget = "0.1.0"\n'

    assert with_version(text, "0.1.0", "0.2.0") == (
        'version = "0.2.0"\nlocal = ["recoverable-local[aws]==0.2.0"]\nother = ["thing==0.1.0"]\ntarget = "0.1.0"\n'
    )


def test_a_push_runs_the_quick_tests_on_each_python_of_the_classifiers() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "push.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [each.rpartition(" :: ")[2] for each in project["classifiers"] if ":: Python :: 3." in each]

    assert workflow["jobs"]["quick"]["strategy"]["matrix"]["python"] == named
