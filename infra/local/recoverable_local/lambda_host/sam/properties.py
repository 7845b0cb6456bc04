"""One property of a resource, read with its bounds and with an error that says where it stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from recoverable_local.lambda_host.sam.document import TemplateError, as_text
from recoverable_local.lambda_host.sam.intrinsics import Scope, is_call, resolve


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of one resource or of one part of it, worked out one at a time, when they are asked for.

    A property that the local host never asks for may hold anything, intrinsic functions it does not know included. One that it asks for
    and cannot take raises a TemplateError, which says where it stands.

    Args:
        where: How an error names the place, such as `Orders` or `Orders.Events.Queue`.
        values: The properties as the template has them.
        scope: What the names in them mean.
    """

    where: str
    values: Mapping[str, Any]
    scope: Scope

    def get(self, name: str, default: Any = None) -> Any:
        """The property with its intrinsic functions worked out."""
        try:
            resolved = resolve({name: self.values.get(name)}, self.scope).get(name)
        except TemplateError as error:
            raise TemplateError(f"{self.where}.{name}: {error}") from error
        return default if resolved is None else resolved

    def part(self, name: str) -> Properties:
        """A property that holds properties, empty when the template has none."""
        values = self.values.get(name)
        if is_call(values):
            values = self.get(name)
        if not isinstance(values, dict | None):
            raise TemplateError(f"{self.where}.{name} is {values!r}; it must be a mapping.")
        return Properties(f"{self.where}.{name}", values or {}, self.scope)

    def refuse_others_than(self, known: Collection[str], *, of: str) -> None:
        """Refuse a property that AWS does not know."""
        for name in sorted(set(self.values) - set(known)):
            raise TemplateError(f"{self.where}.{name} is no property of {of}; there are {', '.join(sorted(known))}.")

    def text(self, name: str, default: str) -> str:
        """A property that is a string."""
        return as_text(self.get(name, default))

    def required(self, name: str, example: str) -> str:
        """A property that is a string and must be there; who forgot it is shown the example."""
        value = self.get(name)
        if value is None:
            raise TemplateError(f"{self.where} has no {name}; write for instance `{name}: {example}`.")
        return as_text(value)

    def number(self, name: str, default: int, *, least: int = 0, most: int) -> int:
        """A property that is a whole number within these bounds."""
        value = as_text(self.get(name, default))
        if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
            raise TemplateError(f"{self.where}.{name} is {value!r}; AWS takes a whole number from {least} to {most}.")
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """A property that is true or false."""
        value = as_text(self.get(name, default)).lower()
        if value not in {"true", "false"}:
            raise TemplateError(f"{self.where}.{name} is {value!r}; it must be true or false.")
        return value == "true"
