"""Look at a template, or at what is deployed, and say what would lose, repeat or delay messages. Nothing is changed.

Examples:
  recoverable check template.yaml --parameter FunctionTimeout=60
  recoverable check template.yaml --json

The exit status is 0 without a finding, 1 with one, and 2 when something cannot be read.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from recoverable.operate.check.ladder import Ladder
from recoverable.operate.check.report import UNREADABLE, Result, report
from recoverable.operate.check.rule import results
from recoverable.operate.check.rules.every import SQS_RULES
from recoverable.operate.check.sqs import Function, OnSqs
from recoverable.operate.commands.terminal import Terminal
from recoverable.operate.port import OperateError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("template", nargs="?", type=Path, metavar="FILE", help="a template of SAM or CloudFormation")
    parser.add_argument(
        "--parameter",
        type=name_and_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the template; may be repeated",
    )
    parser.add_argument(
        "--immediate-retries", type=int, metavar="N", help="where the code says so (default: the environment's, else 5)"
    )
    parser.add_argument(
        "--delayed-retries", type=int, metavar="N", help="where the code says so (default: the environment's, else 3)"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="RULE", help="a rule not to check; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="JSON lines instead of a text")


def run(arguments: argparse.Namespace) -> int:
    """Check. Return 0 without a finding, 1 with one, 2 when something cannot be read."""
    terminal = Terminal()
    try:
        found = check(arguments)
    except OperateError as error:
        terminal.note(f"recoverable check: {error}")
        return UNREADABLE
    return report(found, terminal, as_json=arguments.json)


def check(arguments: argparse.Namespace) -> list[Result]:
    """Return what the rules find in what the arguments name.

    Raises:
        OperateError: it cannot be read.
    """
    described = [with_ladder(each, arguments) for each in read_template(arguments)]
    return [result for each in described for result in results(SQS_RULES, each) if result.rule not in arguments.ignore]


def read_template(arguments: argparse.Namespace) -> tuple[OnSqs, ...]:
    """Return what a template describes.

    Raises:
        OperateError: it cannot be read.
    """
    from recoverable.operate.check.cloudformation.document import TemplateError  # noqa: PLC0415  # needs PyYAML
    from recoverable.operate.check.cloudformation.reader import describe, source_of  # noqa: PLC0415

    try:
        found = describe(source_of(arguments.template, dict(arguments.parameter)))
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        raise OperateError(f"{arguments.template}: {error}") from error
    if not found:
        raise OperateError(f"{arguments.template}: no function of it reads an SQS queue, so there is nothing to check")
    return found


def name_and_value(text: str) -> tuple[str, str]:
    """Split NAME=VALUE.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, value


def with_ladder(described: OnSqs, arguments: argparse.Namespace) -> OnSqs:
    """Return the description with the ladder of the command line, if it says one."""
    immediate, delayed = arguments.immediate_retries, arguments.delayed_retries
    if not isinstance(described.function, Function) or (immediate is None and delayed is None):
        return described
    found = described.function.ladder if isinstance(described.function.ladder, Ladder) else Ladder()
    said = Ladder(
        found.immediate if immediate is None else immediate, found.delayed if delayed is None else delayed, said=True
    )
    return replace(described, function=replace(described.function, ladder=said))
