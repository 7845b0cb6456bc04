"""Define immutable values by their fields alone: `dataclasses` would bring `inspect` into each cold start."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take this name for true; `typing` need not be imported at cold start
if TYPE_CHECKING:
    from inspect import Signature
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        """Return a decorator that changes nothing: the real one is for type checkers alone."""
        return lambda cls: cls


NO_DEFAULT: Any = object()
"""Stands for the default value of a field that must be given."""


class NamedField:
    """A field that is given by name only.

    Args:
        default: its default value.
    """

    __slots__ = ("default",)

    def __init__(self, default: object) -> None:
        self.default = default


def field(*, default: Any = NO_DEFAULT, kw_only: bool) -> Any:  # noqa: ARG001  # read by type checkers: each field made by this is one by name
    """Define a field that is given by name only: `field(default=None, kw_only=True)`."""
    return NamedField(default)


class FieldsSignature:
    """The signature of a class that its fields define, made when `inspect` or `help` reads it."""

    def __get__(self, instance: object, owner: type[Frozen]) -> Any:
        """Return the signature.

        Raises:
            AttributeError: it is asked of an instance, or of a class with an `__init__` of its own: `inspect` looks
                there then.
        """
        if instance is not None or owner.__init__ is not Frozen.__init__:
            raise AttributeError
        return signature_of(owner, NO_DEFAULT)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen:
    """A value whose fields are its annotations, set once.

    Equal values are equal. `__post_init__` may check the fields.
    """

    _by_place = dict[str, object]()  # noqa: RUF012  # fields by place, with their defaults; each class has its own
    _by_name = dict[str, object]()  # noqa: RUF012  # the same for those by name
    __signature__ = FieldsSignature()

    def __init_subclass__(cls) -> None:
        cls._by_place, cls._by_name = {**cls._by_place}, {**cls._by_name}
        for name in cls.__annotations__:
            default = vars(cls).get(name, NO_DEFAULT)
            if not isinstance(default, NamedField):
                cls._by_place[name] = default
                continue
            cls._by_name[name] = default.default
            if default.default is NO_DEFAULT:
                delattr(cls, name)
            else:
                setattr(cls, name, default.default)
        setattr(cls, "__match_args__", tuple(cls._by_place))  # noqa: B010  # type checkers have their own from the fields

    def __init__(self, *by_place: object, **by_name: object) -> None:
        defaults = self._by_place | self._by_name
        fields = defaults | dict(zip(self._by_place, by_place, strict=False)) | by_name
        missing = [name for name, value in fields.items() if value is NO_DEFAULT]
        twice = by_name.keys() & list(self._by_place)[: len(by_place)]
        if len(by_place) > len(self._by_place) or len(fields) > len(defaults) or missing or twice:
            raise wrong_arguments(type(self), by_place, by_name)
        self._assign(**fields)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check the fields; nothing is checked here."""

    def replace(self, /, **changes: object) -> Self:
        """Return the same value with some fields changed, checked as any new one."""
        return type(self)(**(vars(self) | changes))

    __replace__ = replace  # for `copy.replace`, from 3.13 on

    def _assign(self, **fields: object) -> None:
        vars(self).update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__}.{name} cannot be set to {value!r}: make a new {type(self).__name__}"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def signature_of(kind: type[Frozen], no_default: object) -> Signature:
    """Return the signature that the fields of a class define; `no_default` stands for a field that must be given."""
    from inspect import Parameter, Signature  # noqa: PLC0415  # dear at cold start

    texts = {name: text for base in reversed(kind.__mro__[:-1]) for name, text in base.__annotations__.items()}
    kinds = {Parameter.POSITIONAL_OR_KEYWORD: kind._by_place, Parameter.KEYWORD_ONLY: kind._by_name}
    return Signature(
        [
            Parameter(name, how, default=Parameter.empty if value is no_default else value, annotation=texts[name])
            for how, fields in kinds.items()
            for name, value in fields.items()
        ],
        return_annotation=None,
    )


def wrong_arguments(kind: type[Frozen], by_place: tuple[object, ...], by_name: dict[str, object]) -> TypeError:
    """Return the error for arguments that do not fit: what came, and what to write."""
    wanted = ", ".join([*kind._by_place, *(f"{name}=..." for name in kind._by_name)])
    return TypeError(f"{kind.__name__}{by_place}{by_name or ''}: write {kind.__name__}({wanted})")
