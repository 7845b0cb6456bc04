"""The public names: all there, in order, documented, and no more is imported than asked for."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from types import UnionType
from typing import Any

import pytest

import recoverable
import recoverable.aws
from sources import PACKAGE, is_docstring, tree


def test_they_are_sorted() -> None:
    assert recoverable.__all__ == sorted(recoverable.__all__)


def test_they_are_all_that_the_package_offers() -> None:
    offered = {
        alias.asname or alias.name
        for node in ast.walk(tree(PACKAGE / "__init__.py"))
        if isinstance(node, ast.ImportFrom) and node.module != "__future__" and not is_our_own(node)
        for alias in node.names
    }

    assert offered == set(recoverable.__all__)


def is_our_own(node: ast.ImportFrom) -> bool:
    """True if what is imported is for the package itself: the function that looks up the other names."""
    return node.module == "recoverable._on_demand"


def test_a_platform_offers_its_endpoint() -> None:
    assert recoverable.aws.__all__ == ["SqsEndpoint"]


@pytest.mark.parametrize("name", recoverable.__all__)
def test_each_is_there_and_documented(name: str) -> None:
    thing: Any = getattr(recoverable, name)

    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert thing.__doc__
        assert not inspect.isclass(thing) or "__doc__" in vars(thing)
    else:
        assert name in documented_aliases()


def documented_aliases() -> set[str]:
    """Return the names of aliases in the core that a docstring follows."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        body = tree(path).body
        for node, following in pairwise(body):
            if isinstance(node, ast.Assign) and is_docstring(following):
                found.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return found


def test_the_action_is_a_closed_union_of_four() -> None:
    assert isinstance(recoverable.Action, UnionType)
    assert set(recoverable.Action.__args__) == {
        recoverable.ImmediateRetry,
        recoverable.DelayedRetry,
        recoverable.MoveToError,
        recoverable.Discard,
    }


def test_a_star_import_gives_them_all() -> None:
    names: dict[str, object] = {}

    exec("from recoverable import *", names)

    assert set(recoverable.__all__) <= set(names)


def test_another_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        AttributeError, match=r"^module 'recoverable' has no attribute 'Retry'; it has Action, Delayed, "
    ):
        _ = recoverable.Retry


@pytest.mark.parametrize(
    "error",
    [
        recoverable.HandlerTimeout,
        recoverable.MessageDeserializationError,
        recoverable.RetryAfter,
        recoverable.UnreportedFailure,
    ],
)
def test_operators_read_the_name_under_which_users_import(error: type[Exception]) -> None:
    assert f"{error.__module__}.{error.__qualname__}" == f"recoverable.{error.__name__}"
