"""Run the command `recoverable`: find a verb among the installed entry points, and hand its arguments to its module.

A distribution registers a verb in the group `recoverable.commands`, its words joined by a dot: `local.aws`. The module
has `configure(parser)`, which adds its arguments, and `run(arguments)`, which returns the exit status. It is imported
only when the verb is used, so that no verb needs what another one needs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, NoReturn

from recoverable._service_bus.app_settings import is_connection_string, shown

GROUP = "recoverable.commands"


@dataclass(frozen=True, slots=True)
class Verb:
    """A command of this project, such as `demo aws`.

    Args:
        summary: one line for `--help`.
        extra: what to install for it, as in `pip install 'recoverable[extra]'`.
    """

    summary: str
    extra: str


VERBS = {
    "local aws": Verb("run a SAM template's functions on a local SQS", "local"),
    "local azure": Verb("run a Function App on a local Service Bus", "local-azure"),
    "local service-bus": Verb("serve a Service Bus namespace on loopback", "local-azure"),
    "errors list": Verb("list the messages of an error queue", "operate"),
    "errors groups": Verb("count the messages of an error queue by what failed", "operate"),
    "errors show": Verb("show messages of an error queue whole", "operate"),
    "errors retry": Verb("send messages of an error queue back to where they failed", "operate"),
    "errors export": Verb("write messages of an error queue as JSON lines", "operate"),
    "errors import": Verb("send exported messages back to where they failed", "operate"),
    "errors purge": Verb("export messages of an error queue, and delete them", "operate"),
    "places trust": Verb("let all count that a project's recoverable.toml says", "operate"),
    "check": Verb("find in a template, or in what is deployed, what would lose or repeat messages", "operate"),
    "timeouts": Verb("preview stored timeouts, and move them to native delivery", "operate"),
    "demo aws": Verb("watch the example shop's orders fail, retry and reach the error queue", "local"),
    "demo azure": Verb("watch the same orders on a local Service Bus", "local-azure"),
}
"""The verbs of this project, also those of a distribution that is not installed: the command then says what to
install."""

_HELP = ("-h", "--help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb, and return its exit status.

    Args:
        arguments: the words after `recoverable` on the command line; None for this process's.

    Raises:
        SystemExit: the verb's arguments are wrong, or its help was asked for.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    installed = {point.name.replace(".", " "): point for point in entry_points(group=GROUP)}
    for count in range(len(words), 0, -1):
        verb = " ".join(words[:count])
        if verb in installed:
            return _run(verb, installed[verb], words[count:])
        if verb in VERBS:
            return _refuse(f"`{verb}` is not installed", VERBS[verb].extra)
    return _overview(words, {**dict.fromkeys(installed, Verb("", "")), **VERBS})


def _run(verb: str, point: EntryPoint, arguments: list[str]) -> int:
    try:
        module: Any = point.load()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("recoverable") or verb not in VERBS:
            raise
        return _refuse(f"`{verb}` needs {error.name}", VERBS[verb].extra)
    parser = Parser(
        prog=f"recoverable {verb}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.words = arguments
    module.configure(parser)
    status: int = module.run(parser.parse_args(arguments))
    return status


class Parser(argparse.ArgumentParser):
    """A parser whose errors show no connection string. `words` are the arguments as they were written."""

    words: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """End with a text that says what is wrong."""
        for word in filter(is_connection_string, self.words):
            message = message.replace(word, shown(word))
        super().error(message)


def _refuse(why: str, extra: str) -> int:
    sys.stderr.write(f"{why}: pip install 'recoverable[{extra}]'\n")
    return 2


def _overview(arguments: list[str], verbs: dict[str, Verb]) -> int:
    if arguments == ["--version"]:
        sys.stdout.write(f"recoverable {version('recoverable')}\n")
        return 0
    words = [word for word in arguments if word not in _HELP]
    matching = {verb: about for verb, about in verbs.items() if verb.split()[: len(words)] == words}
    usage = _usage(matching or verbs)
    if matching and len(words) < len(arguments):
        sys.stdout.write(usage)
        return 0
    complaint = "" if matching else f"recoverable: {shown(' '.join(arguments))} is no command.\n\n"
    sys.stderr.write(complaint + usage)
    return 2


def _usage(verbs: dict[str, Verb]) -> str:
    lines = "\n".join(f"  {verb:<18} {about.summary}" for verb, about in verbs.items())
    return f"usage: recoverable COMMAND [options]\n\ncommands:\n{lines}\n\n`recoverable COMMAND --help` shows more.\n"
