"""Empty the functions of a room one after another, and name those that no test of the room misses: `make mutants`."""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sources import is_docstring

ADAPTERS = Path(__file__).parent.parent / "adapters"
TESTS = Path(__file__).parent
HANGS = 600
"""Seconds after which a run counts as red: without its function something waits for ever."""


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield each function's place and name, and the source where it returns None, or yields nothing if it is a generator."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not all(map(is_docstring, node.body)):
            whole = node.body
            yields = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))
            node.body = ast.parse("return\nyield" if yields else "pass").body
            yield f"{node.lineno} {node.name}", ast.unparse(tree)
            node.body = whole


def is_missed(packages: Path, tests: list[str]) -> bool:
    """True if a test fails with these packages in place of the project's own."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    variables = {**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.run(command, check=False, env=variables, capture_output=True, timeout=HANGS).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main(arguments: list[str]) -> int:
    """Name what is not missed, and return 1 if there is any."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("room", help="a folder or module of the runtime, such as _ladder or aws/_lease.py")
    parser.add_argument("tests", nargs="*", help="for pytest; by default those of the room")
    chosen = parser.parse_args(arguments)
    room = ADAPTERS / "recoverable" / chosen.room
    tests = chosen.tests or [str(TESTS / chosen.room.partition("/")[0].lstrip("_"))]
    tried = left = 0
    with TemporaryDirectory() as folder:
        packages = Path(folder, "adapters")
        shutil.copytree(ADAPTERS, packages, ignore=shutil.ignore_patterns("__pycache__"))
        if is_missed(packages, tests):
            sys.exit("The tests are red before anything is taken out. Mend them first.")
        for path in [room] if room.is_file() else sorted(room.rglob("*.py")):
            source, copy = path.read_text(encoding="utf-8"), packages / path.relative_to(ADAPTERS)
            for name, mutant in mutants(source):
                copy.write_text(mutant, encoding="utf-8")
                tried += 1
                if not is_missed(packages, tests):
                    left += 1
                    print(f"not missed: {path.relative_to(ADAPTERS)}:{name}", flush=True)  # noqa: T201  # what it is for
            copy.write_text(source, encoding="utf-8")
    print(f"{tried} functions emptied, {left} not missed")  # noqa: T201  # what it is for
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
