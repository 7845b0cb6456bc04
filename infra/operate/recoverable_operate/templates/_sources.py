"""Read the Python files of a function, from a folder or a zip file, as syntax trees: none of them is imported or run."""

from __future__ import annotations

import ast
import os
import sys
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from recoverable_operate.rules._rule import Unknown

MOST_FILES, MOST_BYTES = 200, 1_000_000
"""How much of a function's code is read: so many files, each of so many bytes."""

NOT_CODE = {"__MACOSX", "__pycache__", "node_modules"}
"""Folders without code of the function, besides hidden ones and virtual environments."""

PACKAGE, OPERATE = "recoverable", "recoverable_operate"

IMPORTERS = {"import_module", "__import__"}


@dataclass(frozen=True)
class Sources:
    """The Python files of a function by their paths, such as `shop/orders.py`.

    Args:
        name: of the folder or zip file, as reports name it.
        texts: what is in each file, or why it could not be read.
        whole: why not all files are there; None if they are.
    """

    name: str
    texts: Mapping[str, bytes | Unknown]
    whole: Unknown | None = None

    @cached_property
    def trees(self) -> Mapping[str, ast.Module | Unknown]:
        """Return each file as it was parsed."""
        return {path: parsed(text, path) for path, text in self.texts.items()}

    def file_of(self, module: str) -> str | None:
        """Return the file of a module: from the folder's root, else the one file of that name, for code may extend `sys.path`."""
        base, top = module.replace(".", "/"), module.partition(".")[0]
        if is_of_package(module):
            return None
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in self.texts:
                return path
        if not top or top in sys.stdlib_module_names:
            return None
        named = [path for path in self.texts if path.endswith((f"/{base}.py", f"/{base}/__init__.py"))]
        return named[0] if len(named) == 1 else None

    def uses_package(self) -> bool | Unknown:
        """Return True if a file imports this package, False if all files were read and none does."""
        unread = [self.whole] if self.whole is not None else []
        for path, tree in self.trees.items():
            if isinstance(tree, Unknown):
                unread.append(tree)
            elif path.startswith(f"{PACKAGE}/") or any(map(imports_package, ast.walk(tree))):
                return True
        return unread[0] if unread else False


def imports_package(node: ast.AST) -> bool:
    """True if a node imports this package."""
    match node:
        case ast.Import(names=names):
            return any(is_of_package(each.name) for each in names)
        case ast.ImportFrom(module=str(module), level=0):
            return is_of_package(module)
        case ast.Call(
            func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(module)), *_]
        ):
            return called in IMPORTERS and is_of_package(module)
        case _:
            return False


def is_of_package(module: str) -> bool:
    """True if a module is this package or that of the operator's, or in one of them."""
    return module.partition(".")[0] in (PACKAGE, OPERATE)


def parsed(text: bytes | Unknown, path: str) -> ast.Module | Unknown:
    """Return a file's syntax tree."""
    if isinstance(text, Unknown):
        return text
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Unknown(f"{path} cannot be parsed here ({type(error).__name__})")


def sources_at(path: Path, without: tuple[str, ...] = ()) -> Sources | Unknown:
    """Return the Python files of a folder or a zip file.

    Args:
        path: of the folder, the zip file, or the only file.
        without: folders at the top that are not the function's.
    """
    try:
        if path.is_dir():
            return limited(path.as_posix(), in_folder(path, without))
        if zipfile.is_zipfile(path):
            return limited(path.as_posix(), in_zip(path))
        if path.suffix == ".py" and path.is_file():
            return limited(path.parent.as_posix(), iter([(path.name, file_text(path, path.name))]))
    except (OSError, zipfile.BadZipFile) as error:
        return Unknown(f"{path} cannot be read ({type(error).__name__})")
    return Unknown(f"there is no folder or zip file {path}")


def limited(name: str, files: Iterator[tuple[str, bytes | Unknown]]) -> Sources:
    """Return the first files, and say so where there are more."""
    texts: dict[str, bytes | Unknown] = {}
    for path, text in files:
        if len(texts) == MOST_FILES:
            return Sources(name, texts, Unknown(f"{name} has more than {MOST_FILES} Python files"))
        texts[path] = text
    return Sources(name, texts)


def in_folder(folder: Path, without: tuple[str, ...]) -> Iterator[tuple[str, bytes | Unknown]]:
    """Yield the Python files below a folder, those next to its root first."""
    for current, folders, files in os.walk(folder):
        here = Path(current)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in NOT_CODE
            and not (here / name / "pyvenv.cfg").exists()
            and not (here == folder and name in without)
        )
        for name in sorted(files):
            if is_code(name):
                path = here / name
                yield path.relative_to(folder).as_posix(), file_text(path, name)


def is_code(name: str) -> bool:
    """True if a file is Python, and not what macOS notes beside one."""
    return name.endswith(".py") and not name.startswith("._")


def file_text(path: Path, name: str) -> bytes | Unknown:
    """Return what is in a file."""
    if not path.is_file():
        return Unknown(f"{name} is no file")
    if path.stat().st_size > MOST_BYTES:
        return Unknown(f"{name} has more than {MOST_BYTES:,} bytes")
    try:
        return path.read_bytes()
    except OSError as error:
        return Unknown(f"{name} cannot be read ({type(error).__name__})")


def in_zip(path: Path) -> Iterator[tuple[str, bytes | Unknown]]:
    """Yield the Python files of a zip file."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            path_in_zip = PurePosixPath(member.filename)
            if is_code(path_in_zip.name) and not NOT_CODE & set(path_in_zip.parts):
                large = member.file_size > MOST_BYTES
                yield (
                    member.filename,
                    Unknown(f"{member.filename} has more than {MOST_BYTES:,} bytes") if large else archive.read(member),
                )
