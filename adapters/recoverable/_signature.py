"""Say how a value is made: its signature, and the error for wrong arguments. Read when somebody asks, not at each cold start."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recoverable._frozen import Frozen


def signature_of(kind: type[Frozen], no_default: object) -> Signature:
    """Return the signature that the fields of a class define; `no_default` stands for a field that must be given."""
    texts = {name: text for base in reversed(kind.__mro__[:-1]) for name, text in base.__annotations__.items()}
    kinds = {Parameter.POSITIONAL_OR_KEYWORD: kind._by_place, Parameter.KEYWORD_ONLY: kind._by_name}  # noqa: SLF001  # of the class that this is a part of
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
    wanted = ", ".join([*kind._by_place, *(f"{name}=..." for name in kind._by_name)])  # noqa: SLF001  # as in `signature_of`
    return TypeError(f"{kind.__name__}{by_place}{by_name or ''}: write {kind.__name__}({wanted})")
