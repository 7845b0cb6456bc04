"""The command `recoverable`: which words lead to which module; what a command takes and does stands in its module.

A command's module has `configure(parser)`, which adds its arguments, and `run(arguments)`, which gives the exit status. It is imported
when its words are written and not before, so that no command needs what only another one uses.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Args:
        words: What is written after `recoverable`.
        summary: One line for `--help`.
        module: Where it is.
        extra: What to install for it, as in `pip install 'recoverable[extra]'`.
    """

    words: tuple[str, ...]
    summary: str
    module: str
    extra: str


COMMANDS = (
    Command(
        ("local", "aws"),
        "run a SAM template's functions on a local SQS",
        "recoverable.local.aws.command",
        "local",
    ),
    Command(
        ("local", "azure"),
        "run a Function App on a local Service Bus",
        "recoverable.local.azure.command",
        "local-azure",
    ),
    Command(
        ("local", "service-bus"),
        "serve a Service Bus namespace on loopback",
        "recoverable.local.service_bus.command",
        "azure",
    ),
    Command(
        ("timeouts",),
        "preview stored timeouts, and move them to native delivery",
        "recoverable.timeouts.command",
        "aws",
    ),
    Command(
        ("demo", "aws"),
        "watch the example shop's orders climb the ladder",
        "recoverable.local.demo.aws.command",
        "local",
    ),
    Command(
        ("demo", "azure"),
        "watch the same orders on a local Service Bus",
        "recoverable.local.demo.azure.command",
        "local-azure",
    ),
)

_HELP = ("-h", "--help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit status.

    Args:
        arguments: What is written after `recoverable`; those of the process when None.

    Raises:
        SystemExit: The command's arguments are wrong, or its help was asked for.
    """
    written = list(sys.argv[1:] if arguments is None else arguments)
    for command in COMMANDS:
        if tuple(written[: len(command.words)]) == command.words:
            return _run(command, written[len(command.words) :])
    return _overview(written)


def _run(command: Command, rest: list[str]) -> int:
    words = " ".join(command.words)
    try:
        module = importlib.import_module(command.module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("recoverable"):
            raise
        sys.stderr.write(f"`{words}` needs {error.name}: pip install 'recoverable[{command.extra}]'\n")
        return 2
    parser = argparse.ArgumentParser(
        prog=f"recoverable {words}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    status: int = module.run(parser.parse_args(rest))
    return status


def _overview(written: list[str]) -> int:
    if written == ["--version"]:
        sys.stdout.write(f"recoverable {version('recoverable')}\n")
        return 0
    words = tuple(word for word in written if word not in _HELP)
    known = [command for command in COMMANDS if command.words[: len(words)] == words]
    usage = _usage(known or COMMANDS)
    if known and len(words) < len(written):
        sys.stdout.write(usage)
        return 0
    complaint = "" if known else f"recoverable: {' '.join(written)!r} is no command.\n\n"
    sys.stderr.write(complaint + usage)
    return 2


def _usage(commands: Sequence[Command]) -> str:
    lines = "\n".join(f"  {' '.join(command.words):<18} {command.summary}" for command in commands)
    return f"usage: recoverable COMMAND [options]\n\ncommands:\n{lines}\n\n`recoverable COMMAND --help` tells more.\n"
