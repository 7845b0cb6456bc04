"""Look at a template, or at what is deployed, and say what would lose, repeat or delay messages. Nothing is changed.

Examples:
  recoverable check template.yaml --parameter FunctionTimeout=60
  recoverable check infra/main.bicep
  recoverable check --function shop-orders --region eu-central-1
  recoverable check --queue shop-orders
  recoverable check --queue sb://shop.servicebus.windows.net/orders --json

The exit status is 0 without a finding, 1 with one, and 2 when something cannot be read.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recoverable._limits import MAX_DELAYED
from recoverable_operate.check.looking import Look, look
from recoverable_operate.check.report import UNREADABLE, Result, report
from recoverable_operate.check.rule import results
from recoverable_operate.check.rules.every import SERVICE_BUS_RULES, SQS_RULES
from recoverable_operate.commands.arguments import add_access
from recoverable_operate.commands.terminal import Terminal
from recoverable_operate.port import OperateError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    what = parser.add_argument_group("what to look at; one of these")
    what.add_argument(
        "template", nargs="?", type=Path, metavar="FILE", help="a template of SAM, CloudFormation or Bicep"
    )
    what.add_argument(
        "--function",
        metavar="NAME",
        help="a deployed Lambda function, by name or ARN, with :ALIAS if there is one; with FILE, the only one of its functions to check",
    )
    what.add_argument(
        "--queue", metavar="QUEUE", help="a deployed queue; SQS: ARN, URL or name; Service Bus: sb://NAMESPACE/QUEUE"
    )
    add_assumptions(parser)
    add_access(parser, "how what is deployed is reached", "AWS")
    parser.add_argument(
        "--ignore",
        type=rule_name,
        action="append",
        default=[],
        metavar="RULE",
        help="a rule to leave out; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="JSON lines instead of a text")


def add_assumptions(parser: argparse.ArgumentParser) -> None:
    """Add what a template or a queue does not say."""
    said = parser.add_argument_group("what is not written there")
    said.add_argument(
        "--parameter", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the template; may be repeated",
    )  # fmt: skip
    for name, default in (("immediate", 5), ("delayed", 3)):
        said.add_argument(
            f"--{name}-retries", type=retries, metavar="N",
            help=f"where the code says so (default: what the environment variables say, else {default})",
        )  # fmt: skip
    said.add_argument("--ordered", action="store_true", help='Service Bus: the endpoint has sessions="ordered"')


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
    """Check. Return 0 without a finding, 1 with one, 2 when something cannot be read."""
    terminal = Terminal()
    try:
        looked = look(arguments)
    except OperateError as error:
        terminal.note(f"recoverable check: {error}")
        return UNREADABLE
    for note in looked.notes:
        terminal.note(note)
    return report(found(looked, arguments.ignore), terminal, as_json=arguments.json)


def found(looked: Look, ignored: list[str]) -> list[Result]:
    """Return what the rules find."""
    on_sqs = [each for described in looked.on_sqs for each in results(SQS_RULES, described)]
    on_service_bus = [each for described in looked.on_service_bus for each in results(SERVICE_BUS_RULES, described)]
    return [each for each in (*on_sqs, *on_service_bus) if each.rule not in ignored]


def name_and_value(text: str) -> tuple[str, str]:
    """Split NAME=VALUE.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, value
