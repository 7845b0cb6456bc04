"""Look at templates, or at what is deployed, and say what would lose, repeat or delay messages. Nothing is changed.

Examples:
  recoverable check template.yaml --parameter FunctionTimeout=60
  recoverable check infra/main.bicep --strict
  recoverable check template.yaml --format sarif > check.sarif
  recoverable check --all .
  recoverable check --function shop-orders --region eu-central-1
  recoverable check --queue shop-orders
  recoverable check --queue sb://shop.servicebus.windows.net/orders --json

The exit status is 0 without a finding, 1 with one, 2 when something cannot be read, and 3 when there is nothing to look
at: neither an endpoint nor a function that reads a queue. With --strict it is 1 too when something could not be checked.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from recoverable._limits import MAX_DELAYED
from recoverable_operate._check.accepted import read_baseline, without_accepted
from recoverable_operate._check.formats import FORMATS
from recoverable_operate._check.looks import Look, files_in, look_at_file, look_at_function, look_at_queue
from recoverable_operate._check.report import Report
from recoverable_operate._commands.arguments import add_access, name_or_address
from recoverable_operate._commands.terminal import Terminal
from recoverable_operate.errors import OperateError
from recoverable_operate.rules import SERVICE_BUS_RULES, SQS_RULES
from recoverable_operate.templates import name_and_value

CLEAN, FOUND, UNREADABLE, NOTHING = 0, 1, 2, 3
"""Exit statuses."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    what = parser.add_argument_group("what to look at; one of these")
    what.add_argument(
        "templates",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="templates of SAM, CloudFormation or ARM, Bicep files, and folders with such",
    )
    what.add_argument(
        "--all",
        action="store_true",
        help="with FILE: apply the rules that hold without this package to each function that reads a queue",
    )
    what.add_argument(
        "--function",
        metavar="NAME",
        help="a deployed Lambda function, by name or ARN, with :ALIAS if there is one; with FILE, the only one of its functions to check",
    )
    what.add_argument(
        "--queue",
        type=name_or_address,
        metavar="QUEUE",
        help="a deployed queue; SQS: ARN, URL or name; Service Bus: sb://NAMESPACE/QUEUE",
    )
    add_assumptions(parser)
    add_access(parser, "how what is deployed is reached", "AWS")
    add_report(parser)


def add_assumptions(parser: argparse.ArgumentParser) -> None:
    """Add what a template or a queue does not say."""
    said = parser.add_argument_group("what is not written there")
    said.add_argument(
        "--parameter", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the template; may be repeated",
    )  # fmt: skip
    said.add_argument(
        "--parameters",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a file of parameters of Azure: ARM's, or azd's, whose ${NAME} the environment says; may be repeated",
    )
    said.add_argument(
        "--app",
        type=Path,
        metavar="FOLDER",
        help="the folder of the Function App (default: the nearest with a host.json, else what azure.yaml says)",
    )
    said.add_argument(
        "--bicep",
        type=Path,
        metavar="PATH",
        help="the Bicep compiler (default: that on PATH, then those of az and of azd; none is downloaded)",
    )
    said.add_argument(
        "--assume",
        type=Path,
        metavar="FILE",
        help="what queues of other stacks are like: Queues: {NAME: {PROPERTY: VALUE}}",
    )
    for name, default in (("immediate", 5), ("delayed", 3)):
        said.add_argument(
            f"--{name}-retries", type=retries, metavar="N",
            help=f"where the code cannot be read (default: what the environment variables say, else {default})",
        )  # fmt: skip
    said.add_argument("--ordered", action="store_true", help='Service Bus: the endpoint has sessions="ordered"')


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add what is reported, and how."""
    reported = parser.add_argument_group("what is reported")
    reported.add_argument("--strict", action="store_true", help="exit 1 too when something could not be checked")
    reported.add_argument(
        "--ignore", type=rule_name, action="append", default=[], metavar="RULE", help="a rule to leave out; may be repeated",
    )  # fmt: skip
    reported.add_argument(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="findings that are known, as --json printed them: they count no more",
    )
    reported.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text, JSON lines, SARIF 2.1.0, or annotations of GitHub Actions",
    )
    reported.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")


def retries(text: str) -> int:
    """Return a number of retries.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not text.isdecimal() or int(text) > MAX_DELAYED:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of retries; write 0 to {MAX_DELAYED}")
    return int(text)


def rule_name(text: str) -> str:
    """Return the name of a rule.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    names = [each.name for each in SQS_RULES] + [each.name for each in SERVICE_BUS_RULES]
    if text not in names:
        raise argparse.ArgumentTypeError(f"{text!r} is no rule; there are {', '.join(names)}")
    return text


def run(arguments: argparse.Namespace) -> int:
    """Check. Return 0 without a finding, 1 with one, 2 when something cannot be read, 3 when there is nothing to look at."""
    terminal = Terminal()
    try:
        known = read_baseline(arguments.baseline)
        looked = list(looks(arguments, terminal))
    except OperateError as error:
        refuse(error, terminal)
        return UNREADABLE
    read = [each for each in looked if each is not None]
    if not read:
        return UNREADABLE
    report = Report(tuple(without_accepted(each, known) for each in read))
    FORMATS[arguments.format](report, terminal)
    if len(read) < len(looked):
        return UNREADABLE
    if report.findings or (arguments.strict and report.not_done):
        return FOUND
    return NOTHING if report.is_empty else CLEAN


def refuse(error: OperateError, terminal: Terminal) -> None:
    """Print why something cannot be read; what a compiler says has several lines."""
    for line in f"recoverable check: {error}".splitlines():
        terminal.note(line)


def looks(arguments: argparse.Namespace, terminal: Terminal) -> Iterator[Look | None]:
    """Yield each look; None for a file that cannot be read, which is said.

    Raises:
        OperateError: what is deployed cannot be read, or the arguments name nothing, or more than one thing.
    """
    if arguments.templates and arguments.queue is None:
        for path in (each for given in arguments.templates for each in files_in(given)):
            try:
                yield look_at_file(path, arguments)
            except OperateError as error:
                refuse(error, terminal)
                yield None
    elif (arguments.function is None) == (arguments.queue is None) or arguments.templates:
        raise OperateError("give one thing to look at: a FILE, --function NAME or --queue QUEUE")
    else:
        yield look_at_function(arguments) if arguments.queue is None else look_at_queue(arguments)
