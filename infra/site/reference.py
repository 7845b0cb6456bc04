"""Write the pages of docs/reference that are made of docstrings, parsers and rules.

    python infra/site/reference.py

A test compares the pages with what this makes.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from recoverable_operate.rules import SERVICE_BUS_RULES, SQS_RULES

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
NOTE = "<!-- made by infra/site/reference.py -->"
SETTINGS = {
    "recoverable": ["Recoverability", "Immediate", "Delayed", "Exponential", "Failed", "RateLimit", "RetryAfter"],
    "recoverable.aws": ["SqsEndpoint"],
    "recoverable.azure": ["ServiceBusEndpoint"],
    "recoverable.powertools": ["RecoverableBatchProcessor"],
    "recoverable.extensions": ["Heartbeat", "S3Bodies", "Observe"],
    "recoverable.circuits": ["DynamoDbCircuit", "TableCircuit", "PauseTrigger", "Probe", "SqsProbeQueue"],
    "recoverable.timeouts": ["Timeouts", "DynamoDbStore", "Dispatcher", "TimeoutsQueue"],
}
"""The classes that a user makes, by the module that they are imported from."""


def flat(text: str) -> str:
    """Return a text in one line, as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def summary(docstring: str) -> str:
    """Return what a docstring says before its sections."""
    return re.split(r"\n\s*(?:Args|Raises|Returns|Yields):\n", inspect.cleandoc(docstring))[0].strip()


def arguments(docstring: str) -> dict[str, str]:
    """Return what the section Args of a docstring says of each argument."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", inspect.cleandoc(docstring), re.MULTILINE | re.DOTALL)
    found = re.split(r"^    (\w+): ", section[1], flags=re.MULTILINE)[1:] if section else []
    return {name: flat(text) for name, text in zip(found[::2], found[1::2], strict=True)}


def shown(default: object) -> str:
    """Return a default as its reader writes it."""
    match default:
        case inspect.Parameter.empty:
            return "needed"
        case timedelta():
            return f"{default.total_seconds():g} s"
        case str() | int() | float() | None | ():
            return f"`{default!r}`"
        case _:
            return f"`{type(default).__name__}()`"


def settings() -> Iterator[str]:
    """Yield the page of the settings: a table for each class."""
    yield f"# Settings\n\n{NOTE}\n\nThe arguments of each class, from its docstring. Durations are `timedelta`s."
    for module, names in SETTINGS.items():
        yield f"## {module}"
        for name in names:
            thing = getattr(import_module(module), name)
            said = arguments(thing.__doc__)
            taken = [each for each in inspect.signature(thing).parameters.values() if each.name in said]
            rows = [f"| `{each.name}` | {shown(each.default)} | {said[each.name]} |" for each in taken]
            yield f"### {name}\n\n{summary(thing.__doc__)}"
            yield "\n".join(["| setting | default | what it does |", "|---|---|---|", *rows])


def exceptions() -> Iterator[str]:
    """Yield the page of the public exceptions."""
    seen: dict[type[BaseException], str] = {}
    for module in (
        "recoverable",
        "recoverable.aws",
        "recoverable.azure",
        "recoverable.extensions",
        "recoverable.timeouts",
    ):
        for name in import_module(module).__all__:
            thing = getattr(import_module(module), name)
            if isinstance(thing, type) and issubclass(thing, BaseException):
                seen.setdefault(thing, f"{module}.{name}")
    rows = [
        f"| `{name}` | `{thing.__bases__[0].__name__}` | {flat(summary(thing.__doc__ or ''))} |"
        for thing, name in seen.items()
    ]
    yield f"# Exceptions\n\n{NOTE}"
    yield "\n".join(["| exception | is a | what it says |", "|---|---|---|", *rows])


def rules() -> Iterator[str]:
    """Yield the page of what `recoverable check` looks at."""
    yield f"# Rules of `recoverable check`\n\n{NOTE}"
    for heading, found in (("SQS", SQS_RULES), ("Service Bus", SERVICE_BUS_RULES)):
        yield f"## What must be right on {heading}"
        yield "\n".join(
            ["| rule | what must be right |", "|---|---|", *(f"| `{each.name}` | {each.must} |" for each in found)]
        )
    yield (
        "Two more names are counted: `all-parts`, that each nested stack, nested deployment and loop of a file was read, and "
        "`waivers`, that each entry of `Ignore` is needed. Permissions are compared by action and by the last part of the ARN; "
        "permissions boundaries, service control policies and the policies of queues and keys are not looked at."
    )


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a row for each argument of a parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from (f"| `{name}` {row[2:]}" for row in options(below))
        elif "--help" not in action.option_strings:
            value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
            words = ", ".join(action.option_strings) or value
            yield f"| `{words}{'' if action.nargs == 0 or not action.option_strings else f' {value}'}` | {flat(helped(parser, action))} |"


def helped(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the help of an argument, with its default where the help names it."""
    return parser._get_formatter()._expand_help(action) if action.help else ""


def commands() -> Iterator[str]:
    """Yield the page of the verbs, each with its options."""
    yield f"# Commands\n\n{NOTE}"
    for point in sorted(entry_points(group="recoverable.commands"), key=lambda each: each.name):
        parser = argparse.ArgumentParser()
        module: Any = point.load()
        module.configure(parser)
        yield f"## recoverable {point.name.replace('.', ' ')}\n\n{flat(summary(module.__doc__ or '').partition('Examples:')[0])}"
        yield "\n".join(["| option | what it does |", "|---|---|", *options(parser)])


PAGES = {"settings.md": settings, "exceptions.md": exceptions, "rules.md": rules, "commands.md": commands}
"""Each page that is made, and what makes it."""


def made(parts: Iterable[str]) -> str:
    """Return a page of its parts."""
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(made(page()), encoding="utf-8")
