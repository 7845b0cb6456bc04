"""Immutable values for what is imported before anything fails: `dataclasses` would bring `inspect` into each cold start."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take this name for true; `typing` need not be imported at cold start
if TYPE_CHECKING:
    from typing import Any, Self


class Frozen:
    """A value: its fields are its slots, set once; equal values are equal, and `__replace__` makes a changed one."""

    __slots__: tuple[str, ...] = ()

    def _assign(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__}.{name} cannot be set to {value!r}: make a new {type(self).__name__}"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __getstate__(self) -> dict[str, Any]:
        return self._fields()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._assign(**state)

    def __replace__(self, /, **changes: object) -> Self:
        """The same value with some fields changed; checked as any new one is. `copy.replace` calls this from 3.13 on."""
        return type(self)(**(self._fields() | changes))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), *self._fields().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._fields().items())})"
