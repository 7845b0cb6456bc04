"""The rules that keep the package small and its parts apart, as far as the source itself shows whether they are kept."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.sources import PACKAGE, core, deployed, imports, name, tree

SDKS = {"aiobotocore", "aioboto3", "azure", "boto3", "botocore"}

EDGE = {"alarm.py", "attempt.py", "breaker.py", "coroutines.py", "memory_store.py", "observe.py", "world.py"}
"""What joins the pure core to signal, clock, event loop, log and surroundings; and what one instance keeps, between whose threads a lock is."""

IMPURE = {
    "asyncio", "contextvars", "io", "logging", "os", "pathlib", "random", "secrets", "select", "signal",
    "socket", "subprocess", "sys", "tempfile", "threading", "time", "uuid",
}  # fmt: skip
IMPURE_CALLS = {"input", "now", "open", "print", "sleep", "time", "today", "urandom", "utcnow"}

every_core_file = pytest.mark.parametrize("path", core(), ids=name)
every_deployed_file = pytest.mark.parametrize("path", deployed(), ids=name)
every_pure_file = pytest.mark.parametrize(
    "path", [path for path in core() if path.name not in EDGE], ids=name
)


def test_there_are_files_to_check() -> None:
    names = {name(path) for path in deployed()}

    assert {"policy.py", "recovery.py", "aws/endpoint.py", "aws/client.py"} <= names
    assert not [each for each in names if each.startswith(("local/", "operate/", "testing/"))]


@every_core_file
def test_the_core_imports_only_the_standard_library_and_itself(path: Path) -> None:
    own = {f".{each.stem}" for each in core()}
    foreign = {
        each.module
        for each in imports(tree(path))
        if each.module not in own and each.top not in sys.stdlib_module_names
    }

    assert foreign == set()


@every_pure_file
def test_the_pure_core_has_no_clock_no_log_and_no_chance(path: Path) -> None:
    imported = {each.top for each in imports(tree(path)) if not each.for_types}

    assert (imported & IMPURE, set(called(tree(path))) & IMPURE_CALLS) == (set(), set())


def called(module: ast.Module) -> Iterator[str]:
    """The names of all that is called."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@pytest.mark.parametrize(("platform", "other"), [("aws", "azure"), ("azure", "aws")])
def test_the_platforms_do_not_import_each_other(platform: str, other: str) -> None:
    reaching_over = {
        (name(path), each.module)
        for path in (PACKAGE / platform).rglob("*.py")
        for each in imports(tree(path))
        if each.module.startswith(("..", "recoverable.")) and other in each.module.split(".")
    }

    assert reaching_over == set()


@every_deployed_file
def test_sdks_are_imported_by_clients_and_stores_alone_and_when_they_are_called(path: Path) -> None:
    talks = path.name.endswith(("client.py", "_store.py"))
    sdks = [each for each in imports(tree(path)) if each.top in SDKS and not each.for_types]

    assert [each for each in sdks if not (talks and each.in_function)] == []


CHANGERS = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert",
    "pop", "popitem", "popleft", "remove", "setdefault", "update",
}  # fmt: skip


@every_deployed_file
def test_nothing_at_module_level_changes(path: Path) -> None:
    module = tree(path)
    named = {target.id for node in module.body for target in targets(node) if isinstance(target, ast.Name)}

    assert (
        set(changed(module)) & named,
        [node for node in ast.walk(module) if isinstance(node, ast.Global)],
    ) == (
        set(),
        [],
    )


def targets(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns to."""
    match node:
        case ast.Assign(targets=assigned) | ast.Delete(targets=assigned):
            return [
                part for each in assigned for part in (each.elts if isinstance(each, ast.Tuple) else [each])
            ]
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return [target]
        case _:
            return []


def changed(module: ast.Module) -> Iterator[str]:
    """The names whose content is changed in place."""
    for node in ast.walk(module):
        for target in targets(node):
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield target.value.id
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=verb)) if verb in CHANGERS:
                yield owner


PER_INSTANCE = {"coroutines.py: runner", "aws/queues.py: queue_from_arn"}
"""Caches outside clients and stores, which keep what an instance of the function has anyway: its event loop, and parsed names."""


def test_only_clients_and_stores_and_what_is_named_here_keep_anything() -> None:
    keeping = {
        f"{name(path)}: {node.name}"
        for path in deployed()
        if not path.name.endswith(("client.py", "_store.py"))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef)
        and any("cache" in ast.dump(each) for each in node.decorator_list)
    }

    assert keeping <= PER_INSTANCE


def test_there_is_one_context_variable_and_it_holds_the_test_world() -> None:
    holding = [name(path) for path in deployed() for each in called(tree(path)) if each == "ContextVar"]

    assert holding in ([], ["world.py"])


LASTING = ("Endpoint", "Ladder")
"""How the classes are named whose objects outlive an invocation."""


def test_endpoints_keep_nothing_of_an_invocation() -> None:
    kept = [
        f"{each.name}.{method.name}: {ast.unparse(target)}"
        for path in deployed()
        for each in ast.walk(tree(path))
        if isinstance(each, ast.ClassDef) and each.name.endswith(LASTING)
        for method in each.body
        if isinstance(method, ast.FunctionDef) and method.name != "__init__"
        for node in ast.walk(method)
        for target in targets(node)
        if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self"
    ]

    assert kept == []
