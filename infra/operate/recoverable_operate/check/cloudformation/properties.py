"""Read the properties of a resource, check their types and bounds, and name the property's place in each error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from recoverable_operate.check.cloudformation.document import TemplateError, as_text
from recoverable_operate.check.cloudformation.intrinsics import Scope, is_call, resolve


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of one resource or of one part of it, each resolved when it is read.

    A property that is never read may hold anything, including unsupported intrinsic functions. A property that it reads and
    does not accept raises a TemplateError, which names its place.

    Args:
        where: The place as errors name it, such as `Orders` or `Orders.Events.Queue`.
        values: The properties, unresolved.
        scope: Resolves the names in them.
    """

    where: str
    values: Mapping[str, Any]
    scope: Scope

    def get(self, name: str, default: Any = None) -> Any:
        """Return a property with its intrinsic functions resolved."""
        try:
            resolved = resolve({name: self._written(name)}, self.scope).get(name)
        except TemplateError as error:
            raise TemplateError(f"{self.where}.{name}: {error}") from error
        return default if resolved is None else resolved

    def part(self, name: str) -> Properties:
        """Return a property that holds properties; empty if the template has none."""
        values = self._written(name)
        if is_call(values):
            values = self.get(name)
        if not isinstance(values, dict | None):
            raise TemplateError(f"{self.where}.{name} is {values!r}; it must be a mapping.")
        return Properties(f"{self.where}.{name}", values or {}, self.scope)

    def _written(self, name: str) -> Any:
        """Return a property as it is written."""
        if not isinstance(self.values, dict):
            raise TemplateError(f"{self.where} is {self.values!r:.80}; it must be a mapping.")
        return self.values.get(name)

    def refuse_unknown(self, allowed: Collection[str], *, of: str) -> None:
        """Raise a TemplateError for a property that AWS does not have."""
        for name in sorted(set(self.values) - set(allowed)):
            raise TemplateError(f"{self.where}.{name} is no property of {of}; there are {', '.join(sorted(allowed))}.")

    def text(self, name: str, default: str) -> str:
        """Return a property that is a string."""
        return as_text(self.get(name, default))

    def required(self, name: str, example: str) -> str:
        """Return a string property that is required. The error for a missing one shows the example."""
        value = self.get(name)
        if value is None:
            raise TemplateError(f"{self.where} has no {name}; write for instance `{name}: {example}`.")
        return as_text(value)

    def number(self, name: str, default: int, *, minimum: int = 0, maximum: int) -> int:
        """Return a property that is a whole number within these bounds."""
        value = as_text(self.get(name, default))
        if not value.isascii() or not value.isdigit() or not minimum <= int(value) <= maximum:
            raise TemplateError(
                f"{self.where}.{name} is {value!r}; AWS takes a whole number from {minimum} to {maximum}."
            )
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a property that is true or false."""
        value = as_text(self.get(name, default)).lower()
        if value not in {"true", "false"}:
            raise TemplateError(f"{self.where}.{name} is {value!r}; it must be true or false.")
        return value == "true"
