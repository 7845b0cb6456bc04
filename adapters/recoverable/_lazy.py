"""Import public names when they are first used, not at each cold start (PEP 562)."""

from __future__ import annotations

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def attach(
    package: str, names: Sequence[str], modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    A package calls this where type checkers see imports instead: for them each of its names is there.

    Args:
        package: its name.
        names: its public names.
        modules: the modules that are imported late, and the public names that each defines.
    """

    def import_name(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415  # few functions use such a name

        for module, defined in modules.items():
            if name in defined:
                return getattr(import_module(module), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {', '.join(names)}")

    return import_name, lambda: sorted(names)
