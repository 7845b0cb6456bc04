"""The public names: all there, in order, documented, late only where a table says so, and all that docs and examples import."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any

import pytest

import recoverable
import recoverable.timeouts
from sources import PACKAGE, PUBLIC, is_docstring, is_for_types, module_of, runtime, tree

ROOT = Path(__file__).parents[1]
PACKAGES = [import_module(name) for name in sorted(PUBLIC)]

every_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
every_name = pytest.mark.parametrize(
    ("package", "name"),
    [pytest.param(each, name, id=f"{each.__name__}.{name}") for each in PACKAGES for name in each.__all__],
)


@every_package
def test_they_are_sorted(package: ModuleType) -> None:
    assert package.__all__ == sorted(package.__all__)


@every_package
def test_dir_lists_them(package: ModuleType) -> None:
    assert set(package.__all__) <= set(dir(package))


@every_package
def test_a_star_import_gives_them_all(package: ModuleType) -> None:
    names: dict[str, object] = {}

    exec(f"from {package.__name__} import *", names)

    assert set(package.__all__) <= set(names)


@every_name
def test_each_is_there_and_documented(package: ModuleType, name: str) -> None:
    thing: Any = getattr(package, name)

    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert thing.__doc__
        assert not inspect.isclass(thing) or "__doc__" in vars(thing)
    elif package is not recoverable.headers:
        assert name in documented_aliases()


def documented_aliases() -> set[str]:
    """Return the names of aliases in the core that a docstring follows."""
    return {
        target.id
        for path in PACKAGE.rglob("*.py")
        for node, following in pairwise(tree(path).body)
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_docstring(following)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


LATE = [path for path in runtime() if "recoverable._lazy" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", LATE, ids=module_of)
def test_what_is_imported_late_is_what_type_checkers_see(path: Path) -> None:
    [block] = [node for node in tree(path).body if is_for_types(node)]
    [table] = [
        node for node in ast.walk(tree(path)) if isinstance(node, ast.Call) and "attach" in ast.unparse(node.func)
    ]
    late = ast.literal_eval(table.args[2])
    public = {name for names in late.values() for name in names}

    assert {module: set(names) for module, names in late.items()} == seen_by_type_checkers(block, public)


def seen_by_type_checkers(block: ast.AST, public: set[str]) -> dict[str, set[str]]:
    """Return the public names that the block imports, by module."""
    found = {
        node.module or "": {alias.name for alias in node.names} & public
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
    }
    return {module: names for module, names in found.items() if names}


def test_the_action_is_a_closed_union_of_four() -> None:
    assert isinstance(recoverable.Action, UnionType)
    assert set(recoverable.Action.__args__) == {
        recoverable.ImmediateRetry,
        recoverable.DelayedRetry,
        recoverable.MoveToError,
        recoverable.Discard,
    }


def test_another_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        AttributeError, match=r"^module 'recoverable' has no attribute 'Retry'; it has Action, Delayed, "
    ):
        _ = recoverable.Retry  # type: ignore[attr-defined]  # as type checkers say too


def test_timeouts_and_circuits_raise_one_error_where_a_store_is_away() -> None:
    assert recoverable.timeouts.StoreUnavailable is recoverable.StoreUnavailable


IMPORT = re.compile(r"^\s*from (recoverable(?:\.\w+)*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
PLAIN_IMPORT = re.compile(r"^\s*import (recoverable\.[\w.]+)", re.MULTILINE)
PUBLIC_MODULES = {each.__name__: set(each.__all__) for each in PACKAGES} | {"recoverable_cdk": set[str]()}

READERS = [
    path
    for pattern in ("*.md", "docs/**/*.md", "function_app.py", "functions/**/*.py", "benchmarks/**/*.py")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "CHANGELOG.md"
]
INSIDE = {
    "benchmarks/good_path.py": "the moments at which the context is asked, which callgrind would stretch",
    "benchmarks/simulation/outages/store.py": "a circuit that instances of a simulation share",
    "benchmarks/simulation/outages/waves.py": "the numbers of the circuit, one of which it varies",
    "benchmarks/simulation/outages/pausing.py": "the calls to AWS of a pause, simulated",
    "benchmarks/timeouts_cost.py": "what one row weighs",
}
"""Benchmarks that measure or stand in for what is inside."""


def test_docs_examples_and_benchmarks_import_public_names_alone() -> None:
    private = {
        path.relative_to(ROOT).as_posix(): set(private_imports(path.read_text(encoding="utf-8"))) for path in READERS
    }

    assert {path: names for path, names in private.items() if bool(names) != (path in INSIDE)} == {}


def private_imports(text: str) -> Iterator[str]:
    """Yield what a text imports of the runtime that is not public."""
    for module, names in IMPORT.findall(text):
        for name in re.findall(r"\w+", names.partition("#")[0]):
            if name not in PUBLIC_MODULES.get(module, set()) and f"{module}.{name}" not in PUBLIC_MODULES:
                yield f"{module}.{name}"
    yield from (module for module in PLAIN_IMPORT.findall(text) if module not in PUBLIC_MODULES)
