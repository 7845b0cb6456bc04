"""The functions of ARM templates whose result does not depend on Azure, each as Microsoft's reference defines it."""

from __future__ import annotations

import base64
import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any
from urllib.parse import quote, unquote, urljoin

from recoverable_operate.rules._names import PLACEHOLDER
from recoverable_operate.templates._document import TemplateError, measure

LONGEST_RANGE = 10_000
"""The most numbers of `range` (Microsoft's reference)."""


@dataclass(frozen=True, slots=True)
class Later:
    """A value that is not known before the deployment; in a text it stands in angle brackets.

    Args:
        of: the id of a resource, or the expression that says it.
        path: the way from there, such as `("properties", "principalId")`.
        why: why it is not known; empty where Azure alone knows it.
    """

    of: str
    path: tuple[str, ...] = ()
    why: str = ""

    @property
    def because(self) -> str:
        """Return why it is not known, as a clause."""
        return self.why or f"{str(self)[1:-1]} is known in Azure alone"

    def __bool__(self) -> bool:
        """Refuse to be a condition.

        Raises:
            TemplateError: always.
        """
        raise TemplateError(f"a condition depends on it: {self.because}")

    def __str__(self) -> str:
        return f"<{re.sub('[<>]', '', '.'.join((self.of, *self.path)))}>"


def find(found: Mapping[str, Any], name: object) -> Any:
    """Return what has a name, which is compared without case; None where there is nothing."""
    return next((each for key, each in found.items() if key.lower() == str(name).lower()), None)


def is_open(found: Any) -> bool:
    """True if a value, or a part of a text, is not known before the deployment."""
    return isinstance(found, Later) or (isinstance(found, str) and PLACEHOLDER.search(found) is not None)


def text_of(found: Any) -> str:
    """Return a value as it stands in a text."""
    match found:
        case bool():
            return "True" if found else "False"
        case None:
            return ""
        case dict() | list():
            measure(found)
            return json.dumps(found, separators=(",", ":"), ensure_ascii=False, default=str)
        case _:
            return str(found)


def resource_id(*parts: Any) -> str:
    """Return the id of a resource, from its provider on.

    Raises:
        ValueError: the names do not fit the type.
    """
    start = next(
        place for place, each in enumerate(parts) if isinstance(each, str) and re.fullmatch(r"[\w.]+(/[\w.]+)+", each)
    )
    provider, *types = parts[start].split("/")
    names = [name for each in parts[start + 1 :] for name in str(each).split("/")]
    if len(types) != len(names):
        raise ValueError(f"{len(names)} names do not fit the type {parts[start]}")
    return "/".join((f"/providers/{provider}", *(f"{kind}/{name}" for kind, name in zip(types, names, strict=True))))


def formatted(form: str, *parts: Any) -> str:
    """Return a text with values in place of `{0}`, `{1:D3}` and `{2:N0}`."""

    def one(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        place, _, how = match[1].partition(":")
        found = parts[int(place.split(",")[0])]
        match how[:1].upper(), how[1:]:
            case "", "":
                return text_of(found)
            case "D", width:
                return f"{found:0{width or 0}d}"
            case "N", "0":
                return f"{found:,}"
            case _:
                raise ValueError(f"the form {how} is not read here")

    return re.sub(r"\{\{|\}\}|\{([^{}]*)\}", one, form)


def joined(first: Any, *others: Any) -> Any:
    """Return lists or texts behind one another."""
    return sum(others, first) if isinstance(first, list) else "".join(map(text_of, (first, *others)))


def union(first: Any, *others: Any) -> Any:
    """Return several lists as one without repetitions, or several objects as one, in which what stands later wins."""
    if isinstance(first, list):
        every = [item for each in (first, *others) for item in each]
        return [item for place, item in enumerate(every) if item not in every[:place]]
    merged = dict(first)
    for key, each in (pair for other in others for pair in other.items()):
        before = merged.get(key)
        merged[key] = union(before, each) if isinstance(before, dict) and isinstance(each, dict) else each
    return merged


def common(first: Any, *others: Any) -> Any:
    """Return what several lists, or several objects, have in common."""
    if isinstance(first, list):
        return [each for each in union(first) if all(each in other for other in others)]
    return {key: each for key, each in first.items() if all(other.get(key, Later("")) == each for other in others)}


def is_in(found: Any, wanted: Any) -> bool:
    """True if a text has a part, a list an item, or an object a key, which is compared without case."""
    return any(key.lower() == str(wanted).lower() for key in found) if isinstance(found, dict) else wanted in found


def is_empty(found: Any) -> bool:
    """True if there is nothing in a value.

    Raises:
        TemplateError: nothing of it is known.
    """
    if is_open(found) and not PLACEHOLDER.sub("", str(found)):
        raise TemplateError(f"whether {found} is empty is known in Azure alone")
    return not found


def place_of(found: Any, wanted: Any, *, last: bool = False) -> int:
    """Return where something is in a text or a list; -1 where it is not."""
    if isinstance(found, str):
        return found.lower().rfind(wanted.lower()) if last else found.lower().find(wanted.lower())
    places = [place for place, each in enumerate(found) if each == wanted]
    return places[-1 if last else 0] if places else -1


def cut(text: str, start: int, length: int | None = None) -> str:
    """Return a part of a text."""
    if not 0 <= start <= len(text) or start + (length or 0) > len(text):
        raise ValueError(f"{text!r} has no such part")
    return text[start:] if length is None else text[start : start + length]


def numbers(start: int, count: int) -> list[int]:
    """Return so many whole numbers."""
    if count > LONGEST_RANGE:
        raise ValueError(f"{count} are too many")
    return list(range(start, start + count))


def whole(number: int, by: int) -> int:
    """Return the whole part of a division."""
    found = abs(number) // abs(by)
    return found if (number < 0) == (by < 0) else -found


def end_of(found: Any, place: int) -> Any:
    """Return the first or the last item of a list, or character of a text; nothing where it has none."""
    return found[place] if found else ("" if isinstance(found, str) else None)


def read_safely(found: Any, *keys: Any) -> Any:
    """Return what is at the end of a way; None where the way ends earlier."""
    for key in keys:
        if isinstance(found, Later):
            found = Later(found.of, (*found.path, str(key)), found.why)
        elif isinstance(found, dict):
            found = find(found, key)
        else:
            is_item = isinstance(found, list) and isinstance(key, int) and -len(found) <= key < len(found)
            found = found[key] if is_item else None
    return found


def merged(objects: list[Any]) -> dict[str, Any]:
    """Return several objects as one, of which nothing inside is merged; None stands for one without properties."""
    return {key: each for one in objects for key, each in (one or {}).items()}


def grouped(items: list[Any], key: Callable[[Any], Any]) -> dict[str, list[Any]]:
    """Return the items of a list by their keys."""
    found: dict[str, list[Any]] = {}
    for each in items:
        found.setdefault(key(each), []).append(each)
    return found


def refuse(text: str) -> None:
    """Raise the error that a template asks for.

    Raises:
        TemplateError: always.
    """
    raise TemplateError(f"the template refuses its values: {text}")


def extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Return `min` or `max` for a list, or for several numbers."""
    return lambda *found: choose(found[0] if isinstance(found[0], list) else found)


def with_index(function: Callable[..., Any], items: list[Any]) -> list[Any]:
    """Return the results of a lambda, which is given an item and its place."""
    return [function(each, place) for place, each in enumerate(items)]


def sorted_by(items: list[Any], is_before: Callable[[Any, Any], Any]) -> list[Any]:
    """Return the items of a list in an order: each goes before the first that does not come before it."""
    found: list[Any] = []
    for each in items:
        place = next((at for at, other in enumerate(found) if is_before(each, other)), len(found))
        found.insert(place, each)
    return found


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "add": operator.add,
    "array": lambda found: found if isinstance(found, list) else [found],
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64tojson": lambda text: json.loads(base64.b64decode(text)),
    "base64tostring": lambda text: base64.b64decode(text).decode(),
    "bool": lambda found: bool(found) if isinstance(found, int) else {"true": True, "false": False}[found.lower()],
    "concat": joined,
    "contains": is_in,
    "createarray": lambda *items: list(items),
    "createobject": lambda *pairs: dict(zip(pairs[::2], pairs[1::2], strict=True)),
    "div": whole,
    "empty": is_empty,
    "endswith": lambda text, end: text.lower().endswith(end.lower()),
    "equals": lambda one, other: type(one) is type(other) and one == other,
    "extensionresourceid": lambda base, *parts: f"{base}{resource_id(*parts)}",
    "fail": refuse,
    "false": lambda: False,
    "filter": lambda items, keep: [each for each, is_kept in zip(items, with_index(keep, items), strict=True) if is_kept],
    "first": lambda found: end_of(found, 0),
    "flatten": lambda lists: [item for each in lists for item in each],
    "format": formatted,
    "greater": operator.gt,
    "greaterorequals": operator.ge,
    "groupby": grouped,
    "indexof": place_of,
    "int": int,
    "intersection": common,
    "items": lambda found: [{"key": key, "value": found[key]} for key in sorted(found)],
    "join": lambda items, between: between.join(map(text_of, items)),
    "json": json.loads,
    "last": lambda found: end_of(found, -1),
    "lastindexof": lambda found, wanted: place_of(found, wanted, last=True),
    "length": len,
    "less": operator.lt,
    "lessorequals": operator.le,
    "managementgroupresourceid": resource_id,
    "map": lambda items, make: with_index(make, items),
    "mapvalues": lambda found, make: {key: make(each) for key, each in found.items()},
    "max": extreme(max),
    "min": extreme(min),
    "mod": lambda number, by: number - by * whole(number, by),
    "mul": operator.mul,
    "not": operator.not_,
    "null": lambda: None,
    "objectkeys": sorted,
    "padleft": lambda text, width, filler=" ": str(text).rjust(width, filler),
    "range": numbers,
    "reduce": lambda items, start, join: reduce(join, items, start),
    "replace": lambda text, old, new: text.replace(old, new),
    "resourceid": resource_id,
    "shallowmerge": merged,
    "skip": lambda found, count: found[max(count, 0) :],
    "sort": sorted_by,
    "split": lambda text, marks: re.split("|".join(map(re.escape, [marks] if isinstance(marks, str) else marks)), text),
    "startswith": lambda text, start: text.lower().startswith(start.lower()),
    "string": text_of,
    "sub": operator.sub,
    "subscriptionresourceid": resource_id,
    "substring": cut,
    "take": lambda found, count: found[: max(count, 0)],
    "tenantresourceid": resource_id,
    "tolower": str.lower,
    "toobject": lambda items, key, make=lambda each: each: {key(each): make(each) for each in items},
    "toupper": str.upper,
    "trim": str.strip,
    "true": lambda: True,
    "tryget": read_safely,
    "tryindexfromend": lambda items, place: read_safely(items, -place),
    "union": union,
    "uri": urljoin,
    "uricomponent": lambda text: quote(text, safe=""),
    "uricomponenttostring": unquote,
}  # fmt: skip
"""By their names in small letters."""


TRANSPARENT = frozenset({
    "array", "concat", "createarray", "createobject", "empty", "extensionresourceid", "filter", "flatten", "format", "groupby",
    "items", "join", "managementgroupresourceid", "map", "mapvalues", "objectkeys", "reduce", "resourceid", "shallowmerge",
    "string", "subscriptionresourceid", "tenantresourceid", "tolower", "toobject", "tryget", "union",
})  # fmt: skip
"""Those whose result is known but for the parts that are not."""

OF_LISTS = frozenset({"first", "last", "length", "skip", "take", "tryindexfromend"})
"""Those that look at no item of a list."""
