"""Define immutable values by their fields alone: `dataclasses` would bring `inspect` into each cold start."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take this name for true; `typing` need not be imported at cold start
if TYPE_CHECKING:
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        """Return a decorator that changes nothing: the real one is for type checkers alone."""
        return lambda cls: cls


class Default:
    """A default value of a field that is given by name only."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def field(*, default: Any, kw_only: bool) -> Any:  # noqa: ARG001  # read by type checkers: each field made by this is one by name
    """Define a field that is given by name only: `field(default=None, kw_only=True)`."""
    return Default(default)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen:
    """A value whose fields are its annotations, set once.

    Equal values are equal, and `__replace__` makes a changed one.

    `__post_init__` may check the fields.
    """

    _by_place: dict[str, object] = {}  # noqa: RUF012  # fields by place and by name, with their defaults; each class has its own
    _by_name: dict[str, object] = {}  # noqa: RUF012  # as above

    def __init_subclass__(cls) -> None:
        cls._by_place, cls._by_name = {**cls._by_place}, {**cls._by_name}
        for name in cls.__annotations__:
            default = vars(cls).get(name, Frozen)  # which stands for none
            if isinstance(default, Default):
                cls._by_name[name] = default.value
                setattr(cls, name, default.value)
            else:
                cls._by_place[name] = default

    def __init__(self, *by_place: object, **by_name: object) -> None:
        defaults = self._by_place | self._by_name
        fields = defaults | dict(zip(self._by_place, by_place, strict=False)) | by_name
        missing = [name for name, value in fields.items() if value is Frozen]
        twice = by_name.keys() & list(self._by_place)[: len(by_place)]
        if len(by_place) > len(self._by_place) or len(fields) > len(defaults) or missing or twice:
            raise TypeError(f"{type(self).__name__}{by_place}{by_name or ''}: write {self._signature()}")
        self._assign(**fields)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the fields; nothing is checked here."""

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        """Return the names of the fields, in their order."""
        return (*cls._by_place, *cls._by_name)

    @classmethod
    def _signature(cls) -> str:
        return f"{cls.__name__}({', '.join([*cls._by_place, *(f'{name}=...' for name in cls._by_name)])})"

    def _assign(self, **fields: object) -> None:
        vars(self).update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__}.{name} cannot be set to {value!r}: make a new {type(self).__name__}"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __replace__(self, /, **changes: object) -> Self:
        """Return the same value with some fields changed, checked as any new one.

        `copy.replace` calls this from 3.13 on.
        """
        return type(self)(**(vars(self) | changes))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
