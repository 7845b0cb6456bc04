"""Find the line of a file in which something is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from recoverable_operate.templates._document import compose

if TYPE_CHECKING:
    from yaml import Node


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is written in a template.

    Args:
        file: the file.
        keys: the names on the way to it, the resource's the second, such as `("Resources", "Shop", "Properties")`.
        found: the line, where it is known already.
    """

    file: Path
    keys: tuple[str, ...]
    found: int | None = None

    @property
    def resource(self) -> str:
        """Return the resource's name."""
        return self.keys[1]

    @property
    def line(self) -> int:
        """Return the line, from 1: of the last of the names that is found there."""
        return self.found or line_of(self.file, self.keys)


def line_of(file: Path, keys: tuple[str, ...]) -> int:
    """Return the line of the last of these names that a file has, one inside the other."""
    text = file.read_text(encoding="utf-8-sig")
    line, inside = 1, root_of(text)
    for key in keys:
        named = next(((name, value) for name, value in pairs_of(inside) if name.value == key), None)
        if named is None:
            break
        line, inside = named[0].start_mark.line + 1, named[1]
    return line


@lru_cache(maxsize=8)
def root_of(text: str) -> Node | None:
    """Return a template as it was composed."""
    return compose(text)


def pairs_of(node: Node | None) -> Iterator[tuple[Node, Node]]:
    """Yield the names and values of a mapping."""
    found = getattr(node, "value", None)
    yield from (each for each in found if isinstance(each, tuple)) if isinstance(found, list) else ()
