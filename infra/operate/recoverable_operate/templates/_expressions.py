"""Work out values in a function's code without running it: constants, and what follows from them alone. All else is computed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache, cached_property
from inspect import Parameter, Signature, signature
from pathlib import PurePosixPath
from typing import Any

import recoverable.aws
import recoverable.azure
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._sources import Sources

MOST_FILES_DEEP = 5
"""Through how many files an imported name is followed."""

MOST_NESTED = 50
"""How deep an expression may be nested."""

LARGEST = 10**12
"""Results beyond this size are left alone, so that nothing grows without end."""

OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}

TIMEDELTA, ENVIRON = "datetime.timedelta", "os.environ"
FROM_ENVIRONMENT = "recoverable.Recoverability.from_environment"

STAMP = "recoverable_operate.stamp"

PROCESSOR = "recoverable.powertools.RecoverableBatchProcessor"
"""Known by its name: it can be imported only together with Powertools."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that was imported, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Made:
    """A call of one of this package's classes.

    Args:
        name: the dotted name of what is called.
        arguments: those that are given, by name.
        where: file and line.
    """

    name: str
    arguments: Mapping[str, Any]
    where: str


Value = Any
"""A value that is known, a `Reference`, a `Made`, or Unknown."""


@dataclass(frozen=True)
class Scope:
    """A file of a function, or a function in it.

    Args:
        root: of the folder or zip file.
        path: of the file, from there.
        tree: what was parsed.
        outer: where names are looked up that are not bound here; None in a module.
    """

    root: str
    path: str
    tree: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    outer: Scope | None = None

    @cached_property
    def bindings(self) -> Mapping[str, int]:
        """Return how often each name is bound here: once, if it is always imported from the same place."""
        origins: dict[str, set[object]] = {}
        for name, origin in bound_names(self.tree):
            origins.setdefault(name, set()).add(origin)
        return {name: len(each) for name, each in origins.items()}

    @cached_property
    def statements(self) -> Mapping[str, ast.stmt]:
        """Return the statement, outside `if`, `for` and `try`, that binds each name to a value that may be known."""
        return {name: each for each in self.tree.body for name in self.bound_by(each)}

    def bound_by(self, statement: ast.stmt) -> Iterator[str]:
        """Yield the names that a statement binds: in a function, those that it imports alone."""
        match statement:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from map(name_bound_by, names)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                if self.outer is None:
                    yield name
            case _:
                pass

    def computed(self, node: ast.AST) -> Unknown:
        """Return the reason why a value is not known."""
        return Unknown(f"{self.at(node)} is computed when it runs")

    def at(self, node: ast.AST) -> str:
        """Return file and line of a node."""
        return f"{PurePosixPath(self.root) / self.path}:{getattr(node, 'lineno', 1)}"


def name_bound_by(imported: ast.alias) -> str:
    """Return the name under which something is imported."""
    return imported.asname or imported.name.partition(".")[0]


def bound_names(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield each name that a scope binds, with what it is bound to; functions and classes in it are not entered.

    A name that a function declares global is bound by it too.
    """
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, child
                declared = (each for each in ast.walk(child) if isinstance(each, ast.Global))
                yield from ((name, each) for each in declared for name in each.names)
                continue
            case ast.Lambda():
                continue
            case ast.Import() | ast.ImportFrom():
                yield from ((name_bound_by(each), (getattr(child, "module", ""), each.name)) for each in child.names)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name, child
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, child
            case ast.MatchMapping(rest=str(name)):
                yield name, child
            case _:
                pass
        yield from bound_names(child)


@dataclass(frozen=True)
class Reader:
    """Works out values in the code of one function.

    Args:
        sources: its files.
        variables: its environment variables.
        files: through how many files an import was followed.
        nested: how deep the expression is nested.
    """

    sources: Sources
    variables: Mapping[str, str | Unknown] | Unknown = field(default_factory=dict)
    files: int = 0
    nested: int = 0

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression; Unknown where it is computed."""
        inner = replace(self, nested=self.nested + 1)
        match node:
            case _ if self.nested > MOST_NESTED:
                return scope.computed(node)
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return inner.of_name(name, node, scope)
            case ast.Call():
                return inner.of_call(node, scope)
            case _:
                return inner.of_operation(node, scope)

    def of_operation(self, node: ast.expr, scope: Scope) -> Value:
        """Return the result of an operator, an attribute of what was imported, or an environment variable."""
        found: Value = scope.computed(node)
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = calculated(operator.mul, self.value(operand, scope), -1, found)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                sides = self.value(left, scope), self.value(right, scope)
                found = calculated(OPERATORS[type(op)], *sides, found)
            case ast.Attribute(value=of, attr=name) if isinstance(module := self.value(of, scope), Reference):
                found = Reference(f"{module.name}.{name}")
            case ast.Subscript(value=of, slice=ast.Constant(value=str(name))):
                found = self.variable(name) if self.value(of, scope) == Reference(ENVIRON) else found
            case _:
                pass
        return found

    def variable(self, name: str) -> str | Unknown:
        """Return the template's value of an environment variable."""
        if isinstance(self.variables, Unknown):
            return self.variables
        return self.variables.get(name, Unknown(f"the environment variable {name} is not in the template"))

    def of_name(self, name: str, node: ast.AST, scope: Scope) -> Value:
        """Return the value of a name that is bound once."""
        count = scope.bindings.get(name, 0)
        if count == 0 and scope.outer is not None:
            return self.of_name(name, node, scope.outer)
        statement = scope.statements.get(name) if count == 1 and "*" not in scope.bindings else None
        match statement:
            case ast.Assign(value=expression) | ast.AnnAssign(value=ast.expr() as expression):
                return self.value(expression, scope)
            case ast.ImportFrom():
                return self.imported(name, statement, scope)
            case ast.Import(names=names):
                [found] = [each for each in names if name_bound_by(each) == name]
                return Reference(found.name if found.asname else name)
            case _:
                return scope.computed(node)

    def imported(self, name: str, statement: ast.ImportFrom, scope: Scope) -> Value:
        """Return the value of a name that is imported `from` a module: of one of the function's own files, as it is bound there."""
        [original] = [each.name for each in statement.names if name_bound_by(each) == name]
        module = absolute(statement, scope.path)
        if (path := self.sources.file_of(module)) is None:
            return Reference(f"{module}.{original}")
        tree = self.sources.trees[path]
        if isinstance(tree, Unknown):
            return tree
        if self.files == MOST_FILES_DEEP:
            return scope.computed(statement)
        there = Scope(scope.root, path, tree)
        return replace(self, files=self.files + 1).of_name(original, statement, there)

    def of_call(self, node: ast.Call, scope: Scope) -> Value:
        """Return what a call of `timedelta`, of one of this package's classes, or of `.replace` on one of them, makes."""
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            return scope.computed(node)
        by_place = [self.value(each, scope) for each in node.args]
        by_name = {str(each.arg): self.value(each.value, scope) for each in node.keywords}
        if isinstance(node.func, ast.Attribute) and node.func.attr == "replace" and not by_place:
            changed = self.value(node.func.value, scope)
            return (
                replace(changed, arguments={**changed.arguments, **by_name})
                if isinstance(changed, Made)
                else scope.computed(node)
            )
        called = self.value(node.func, scope)
        if called == Reference(TIMEDELTA):
            return calculated(lambda place, name: timedelta(*place, **name), by_place, by_name, scope.computed(node))
        if not isinstance(called, Reference) or (takes := signature_of(called.name)) is None:
            return scope.computed(node)
        try:
            return Made(called.name, takes.bind_partial(*by_place, **by_name).arguments, scope.at(node))
        except TypeError as error:
            return Unknown(f"{scope.at(node)}: {error}")


def calculated(operation: Callable[[Any, Any], Any], left: Value, right: Value, otherwise: Unknown) -> Value:
    """Return the result of an operation on values that are known; numbers, texts and durations of a sane size alone."""
    try:
        found = operation(left, right)
    except (TypeError, ValueError, OverflowError):
        return otherwise
    match found:
        case timedelta() | None:
            return found
        case str() if operation is operator.add and len(found) < LARGEST:
            return found
        case int() | float() if not isinstance(left, str) and abs(found) < LARGEST:
            return found
        case _:
            return otherwise


def absolute(statement: ast.ImportFrom, path: str) -> str:
    """Return the module's name from the root of the folder, of one that is imported relatively too."""
    if not statement.level:
        return statement.module or ""
    package = path.split("/")[: -statement.level]
    return ".".join([*package, *([statement.module] if statement.module else [])])


@cache
def signature_of(name: str) -> Signature | None:
    """Return how a public class of this package, or `stamp`, is called; None for anything else."""
    module, _, attribute = name.rpartition(".")
    if name == FROM_ENVIRONMENT:
        return Signature([Parameter("prefix", Parameter.POSITIONAL_OR_KEYWORD), *PARTS])
    if name == STAMP:
        return Signature([Parameter("to", Parameter.KEYWORD_ONLY)])
    if name == PROCESSOR:
        _, *settings = signature_of("recoverable.aws.SqsEndpoint").parameters.values()  # type: ignore[union-attr]  # it is there
        return Signature([*settings, *(Parameter(each, Parameter.KEYWORD_ONLY) for each in ("model", "logger"))])
    public = PUBLIC.get(module)
    found = getattr(public, attribute) if public is not None and attribute in public.__all__ else None
    return signature(found) if isinstance(found, type) else None


PUBLIC: Mapping[str, Any] = {
    "recoverable": recoverable,
    "recoverable.aws": recoverable.aws,
    "recoverable.azure": recoverable.azure,
}
"""The modules whose classes are known."""


PARTS = [
    Parameter(name, Parameter.KEYWORD_ONLY)
    for name in ("immediate", "delayed", "failed", "rate_limit", "policy", "observe")
]
"""The parts that `Recoverability.from_environment` takes."""
