"""The package's own source as syntax trees: what a file imports, and under which condition."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import recoverable

PACKAGE = Path(recoverable.__file__).parent
FREE = {"local", "operate", "testing"}
"""Subpackages that may use any library: they run on a developer's machine."""

COMMAND_LINE = {"cli.py", "__main__.py"}
"""Files beside the core that are no part of it."""


@dataclass(frozen=True)
class Import:
    """One imported module.

    Args:
        module: its name, with a leading dot for each level of a relative import.
        for_types: whether only type checkers see it.
        in_function: whether it is imported when a function is called.
    """

    module: str
    for_types: bool
    in_function: bool

    @property
    def top(self) -> str:
        """The distribution's name; empty for a relative import."""
        return self.module.partition(".")[0]


def tree(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    """The file's name within the package."""
    return path.relative_to(PACKAGE).as_posix()


def core() -> list[Path]:
    """The files of the core."""
    return sorted(path for path in PACKAGE.glob("*.py") if path.name not in COMMAND_LINE)


def deployed() -> list[Path]:
    """The files that run in the cloud: the core and the platforms."""
    below = (path for path in PACKAGE.glob("*/**/*.py") if path.relative_to(PACKAGE).parts[0] not in FREE)
    return [*core(), *sorted(below)]


def is_for_types(node: ast.AST) -> bool:
    """Whether the node is the block that only type checkers see."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(node: ast.AST, *, for_types: bool = False, in_function: bool = False) -> Iterator[Import]:
    """All that is imported below the node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, for_types, in_function) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            module = "." * child.level + (child.module or "")
            names = [module] if child.module else [f"{module}{alias.name}" for alias in child.names]
            yield from (Import(each, for_types, in_function) for each in names)
        else:
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(
                child, for_types=for_types or is_for_types(child), in_function=in_function or function
            )


def lines_of_code(path: Path) -> int:
    """The lines that hold code to run: no blanks, comments or docstrings, nor what only type checkers see."""
    source = path.read_text(encoding="utf-8")
    idle = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in idle:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if is_for_types(node) or is_docstring(node):
            assert isinstance(node, ast.stmt)
            held.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def is_docstring(node: ast.AST) -> bool:
    """Whether the node is a text that nothing uses."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
