"""Each room has tests of its own, which reach public names where they are, and run without the packages of the other cloud."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from sources import PACKAGE, PUBLIC, Import, imports, lines_of_code, name, runtime, tree

TESTS = Path(__file__).parent
OF_AWS = ("aws_lambda_powertools", "awslambdaric", "boto3", "botocore", "cfnlint", "ministack", "moto", "samtranslator")
OF_AZURE = ("azure.core", "azure.data", "azure.functions", "azure.identity", "azure.servicebus")
FOREIGN = {
    "aws": OF_AZURE,
    "azure": OF_AWS,
    "local/functions_host": OF_AWS,
    "local/lambda_host": OF_AZURE,
    "local/service_bus": OF_AWS,
    "operate/aws": OF_AZURE,
    "operate/azure": OF_AWS,
}


@pytest.mark.parametrize("room", FOREIGN)
def test_a_room_imports_nothing_of_the_other_cloud_by_whatever_way(room: str) -> None:
    found = {each.module for path in reached_from(room) for each in imports_when_loaded(path)}

    assert {name for name in found if name.startswith(FOREIGN[room])} == set()


def reached_from(room: str) -> set[Path]:
    """Return the files of a room, the fixtures above it, and all files of tests that these load."""
    folder = TESTS / room
    above = [parent / "conftest.py" for parent in folder.parents if parent.is_relative_to(TESTS)]
    waiting, reached = [*folder.rglob("*.py"), *(path for path in above if path.exists())], set[Path]()
    while waiting:
        if (path := waiting.pop()) not in reached:
            reached.add(path)
            names = (name for each in imports_when_loaded(path) for name in each.candidates)
            files = (TESTS / f"{name.replace('.', '/')}.py" for name in names)
            waiting += [file for file in files if file.exists()]
    return reached


def imports_when_loaded(path: Path) -> Iterator[Import]:
    """Yield what a file imports when it is loaded."""
    yield from (each for each in imports(tree(path)) if not each.for_types and not each.in_function)


LARGE = 150
"""Lines of code from which on a module has tests of its own name: whoever changes it finds them."""


def test_a_large_module_has_tests_of_its_name_in_its_room() -> None:
    large = [path for path in runtime() if path.parent != PACKAGE and lines_of_code(path) >= LARGE]

    assert [name(path) for path in large if not named_after(path)] == []


def named_after(path: Path) -> list[Path]:
    """Return the files and folders of tests in a module's room that have its name."""
    room = path.relative_to(PACKAGE).parts[0]
    folder = TESTS / {"_sqs": "aws", "_service_bus": "azure"}.get(room, room.removeprefix("_"))
    module = path.stem.removeprefix("_")
    return [each for each in folder.rglob("*") if each.name.startswith(f"test_{module}") or each.name == module]


@cache
def internal_imports() -> list[tuple[Path, Import]]:
    """Return what files of tests import from modules of the package that are not public, and the file."""
    found = ((path, each) for path in sorted(TESTS.rglob("*.py")) for each in imports(tree(path)))
    return [(path, each) for path, each in found if each.top == "recoverable" and "._" in each.module]


def test_tests_take_public_names_from_where_they_are_public() -> None:
    public = {
        name: getattr(package, name) for package in map(import_module, sorted(PUBLIC)) for name in package.__all__
    }
    taken = [(path.name, each.module, each.names & public.keys()) for path, each in internal_imports()]

    assert [
        (path, module, name)
        for path, module, names in taken
        for name in names
        if getattr(import_module(module), name, None) is public[name]
    ] == []


ON_TOP = (
    "benchmarks", "cdk", "docs", "end_to_end", "functions", "infra", "local", "nservicebus", "operate", "release", "soak",
)  # fmt: skip
"""The rooms of what is built on the package."""

REACHED = {
    "_ladder.copy_headers", "_ladder.faults", "_rate_limit.state", "_service_bus.app_settings",
    "_service_bus.host_json", "_service_bus.wire", "_sqs.wire", "extensions._metrics",
}  # fmt: skip
"""The modules that are not public and that their tests need even so."""


def test_tests_of_what_is_built_on_the_package_reach_public_names_and_these() -> None:
    found = {each.module for path, each in internal_imports() if path.relative_to(TESTS).parts[0] in ON_TOP}

    assert {module.removeprefix("recoverable.") for module in found} == REACHED
