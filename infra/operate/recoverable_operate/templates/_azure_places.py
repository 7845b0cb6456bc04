"""Find where the resources of an ARM template are written: in its JSON, or in the Bicep files that it was compiled from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from recoverable_operate.templates._arm_resources import Resource
from recoverable_operate.templates._places import Place

_DECLARED = re.compile(r"^\s*resource\s+(?P<symbol>\w+)\s+'(?P<type>[\w./]+)", re.MULTILINE)
_OTHER_FILE = re.compile(r"^\s*(?:module\s+\w+|using)\s+'(?P<path>[^':]+\.bicep)'", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A resource of a Bicep file: its line, and its text up to the next one."""

    file: Path
    line: int
    symbol: str
    type: str
    text: str

    def makes(self, resource: Resource) -> int:
        """Return how likely it is that this makes a resource; 0 if it does not."""
        kind = self.type.lower()
        if resource.type != kind and not resource.type.endswith(f"/{kind}"):
            return 0
        return 1 + 2 * (f"'{resource.own_name}'" in self.text) + 4 * (self.symbol == resource.symbol)


def places_of(resources: Iterable[Resource], file: Path) -> dict[str, Place]:
    """Return the places of resources by their names."""
    if file.suffix == ".json":
        text = file.read_text(encoding="utf-8-sig")
        return {each.own_name: Place(file, ("resource", each.own_name), line_in(text, each)) for each in resources}
    declarations = list(declarations_of(file, set()))
    return {each.own_name: declared_place(each, declarations, file) for each in resources}


def declarations_of(file: Path, seen: set[Path]) -> Iterator[Declaration]:
    """Yield the resources of a Bicep file and of those that it uses, as far as they are here."""
    if file.resolve() in seen or not file.is_file():
        return
    seen.add(file.resolve())
    text = file.read_text(encoding="utf-8-sig")
    found = list(_DECLARED.finditer(text))
    for match, following in zip(found, [*found[1:], None], strict=False):  # None has no partner where nothing is found
        end = following.start() if following else len(text)
        line = text.count("\n", 0, match.start("symbol")) + 1
        yield Declaration(file, line, match["symbol"], match["type"], text[match.end() : end])
    for match in _OTHER_FILE.finditer(text):
        yield from declarations_of(file.parent / match["path"], seen)


def declared_place(resource: Resource, declarations: list[Declaration], file: Path) -> Place:
    """Return where a Bicep file makes a resource; its beginning where that is not found, or may be in several places."""
    likely = sorted(declarations, key=lambda each: each.makes(resource), reverse=True)
    best = [each for each in likely if each.makes(resource) == likely[0].makes(resource) > 0]
    found = best[0] if len(best) == 1 else Declaration(file, 1, "", "", "")
    return Place(found.file, ("resource", resource.own_name), found.line)


def line_in(text: str, resource: Resource) -> int:
    """Return the line of a JSON file in which a resource has its name: of several, the nearest to a type of that kind."""
    kind, name = ((key, json.dumps(each, ensure_ascii=False)) for key, each in resource.written)
    types, names = (
        [match.start() for match in re.finditer(rf'"{key}"\s*:\s*{re.escape(each)}', text)]
        for key, each in (kind, name)
    )
    if not names:
        return 1
    nearest = min(names, key=lambda at: min((abs(at - each) for each in types), default=0))
    return text.count("\n", 0, nearest) + 1
