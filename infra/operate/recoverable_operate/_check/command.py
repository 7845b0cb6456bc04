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
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from recoverable._limits import MAX_DELAYED
from recoverable_operate._check.aws_client import Aws, describe_function, describe_queue
from recoverable_operate._check.service_bus_client import describe_entity
from recoverable_operate._commands.arguments import add_access, name_or_address
from recoverable_operate._commands.terminal import Terminal, printable
from recoverable_operate.errors import OperateError
from recoverable_operate.errors._aws.session_client import Access
from recoverable_operate.errors._azure.entity import entity_of
from recoverable_operate.rules import (
    SERVICE_BUS_RULES,
    SQS_RULES,
    Finding,
    Function,
    Ladder,
    NotChecked,
    OnServiceBus,
    OnSqs,
    results,
)
from recoverable_operate.templates import (
    TemplateError,
    describe_bicep,
    describe_template,
    parse_document,
    read_template,
)

CLEAN, FOUND, UNREADABLE = 0, 1, 2
"""Exit statuses."""

Result = Finding | NotChecked

D = TypeVar("D", OnSqs, OnServiceBus)

DEPLOYED = "check what it deployed, with --function NAME or --queue QUEUE"


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
        "--queue",
        type=name_or_address,
        metavar="QUEUE",
        help="a deployed queue; SQS: ARN, URL or name; Service Bus: sb://NAMESPACE/QUEUE",
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


def report(results: Sequence[Result], terminal: Terminal, *, as_json: bool) -> int:
    """Print results, each once. Return 1 if there is a finding, else 0."""
    once = list(dict.fromkeys(results))
    findings = [each for each in once if isinstance(each, Finding)]
    if as_json:
        for each in once:
            terminal.data(result_data(each))
    else:
        terminal.show(printable("\n".join(lines(once)), lines=True))
    return FOUND if findings else CLEAN


def result_data(result: Result) -> dict[str, object]:
    """Return a result as a line of JSON."""
    match result:
        case Finding(rule=rule, problem=problem):
            return {"rule": rule, **asdict(problem)}
        case NotChecked(rule=rule, why=why):
            return {"rule": rule, "notChecked": why}


def lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield the lines of a report: the findings, then what was not checked, then how many of each."""
    findings, unchecked = 0, defaultdict[str, list[str]](list)
    for each in results:
        if isinstance(each, NotChecked):
            unchecked[each.why].append(each.rule)
        else:
            findings += 1
            yield from (f"{each.problem.where}: {each.rule}", *paragraphs(each), "")
    for why, rules in unchecked.items():
        yield f"not checked: {', '.join(dict.fromkeys(rules))}: {why}."
    yield "Nothing found." if not findings else "1 finding." if findings == 1 else f"{findings} findings."


def paragraphs(finding: Finding) -> tuple[str, ...]:
    """Return what is wrong, what it causes, and what to write."""
    problem = finding.problem
    return (f"  {problem.wrong}.", f"  So {problem.causes}.", f"  {problem.write[0].upper()}{problem.write[1:]}.")


@dataclass(frozen=True, slots=True)
class Look:
    """What was read.

    Args:
        on_sqs: the functions on SQS.
        on_service_bus: the functions on Service Bus.
        notes: what of it was not looked at.
    """

    on_sqs: tuple[OnSqs, ...] = ()
    on_service_bus: tuple[OnServiceBus, ...] = ()
    notes: tuple[str, ...] = ()


def look(arguments: argparse.Namespace) -> Look:
    """Return what the arguments name, with the ladder that they say.

    Raises:
        OperateError: it cannot be read, or they name nothing, or more than one thing.
    """
    if arguments.template is not None and arguments.queue is None:
        read = look_at_template(arguments)
    elif (arguments.function is None) == (arguments.queue is None) or arguments.template is not None:
        raise OperateError("give one thing to look at: a FILE, --function NAME or --queue QUEUE")
    else:
        read = look_at_function(arguments) if arguments.queue is None else look_at_queue(arguments)
    return replace(
        read,
        on_sqs=tuple(with_ladder(each, arguments) for each in read.on_sqs),
        on_service_bus=tuple(with_ladder(each, arguments) for each in read.on_service_bus),
    )


def look_at_template(arguments: argparse.Namespace) -> Look:
    """Return what a template describes, or a Bicep file.

    Raises:
        OperateError: it cannot be read.
    """
    if hint := hint_for_name(arguments.template):
        raise OperateError(f"{arguments.template}: {hint}")
    if arguments.template.suffix == ".bicep":
        return look_at_bicep(arguments)
    try:
        document = parse_document(arguments.template.read_text(encoding="utf-8"))
        template = read_template(document, dict(arguments.parameter), lenient=True)
        found = describe_template(template)
    except ModuleNotFoundError as error:
        raise OperateError(f"templates need {error.name}: pip install 'recoverable-operate[check]'") from None
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        raise OperateError(f"{arguments.template}: {error}") from error
    if not found:
        why = hint_for_content(document) or "no function of it reads an SQS queue, so there is nothing to check"
        raise OperateError(f"{arguments.template}: {why}")
    return Look(on_sqs=chosen(found, arguments), notes=template.notes)


def chosen(found: tuple[OnSqs, ...], arguments: argparse.Namespace) -> tuple[OnSqs, ...]:
    """Return the functions of a template, or the one that is named.

    Raises:
        OperateError: nothing has that name.
    """
    names = {each.function.name: each for each in found if isinstance(each.function, Function)}
    if arguments.function is None:
        return found
    if arguments.function not in names:
        raise OperateError(
            f"{arguments.template}: no function {arguments.function} reads a queue; {', '.join(names)} do"
        )
    return tuple(each for each in found if getattr(each.function, "name", None) == arguments.function)


def look_at_bicep(arguments: argparse.Namespace) -> Look:
    """Return what a Bicep file describes.

    Raises:
        OperateError: it cannot be read.
    """
    try:
        found = describe_bicep(arguments.template, dict(arguments.parameter))
    except ModuleNotFoundError as error:
        raise OperateError(f"Bicep needs {error.name}: pip install 'recoverable-operate[check]'") from None
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        raise OperateError(f"{arguments.template}: {error}") from error
    if not found:
        raise OperateError(
            f"{arguments.template}: it makes no Service Bus queue that is read, so there is nothing to check"
        )
    return Look(on_service_bus=found)


def look_at_function(arguments: argparse.Namespace) -> Look:
    """Return a deployed Lambda function.

    Raises:
        OperateError: it cannot be read.
    """
    return Look(on_sqs=describe_function(Aws(access(arguments)), arguments.function))


def look_at_queue(arguments: argparse.Namespace) -> Look:
    """Return a deployed queue.

    Raises:
        OperateError: it cannot be read.
    """
    if arguments.queue.startswith("sb://"):
        connection = os.environ.get(arguments.connection)
        return Look(on_service_bus=describe_entity(entity_of(arguments.queue), connection, arguments.connection))
    return Look(on_sqs=describe_queue(Aws(access(arguments)), arguments.queue))


def access(arguments: argparse.Namespace) -> Access:
    """Return how AWS is reached."""
    return Access(
        profile=arguments.profile, region=arguments.region, role=arguments.role, endpoint_url=arguments.endpoint_url
    )


def with_ladder(described: D, arguments: argparse.Namespace) -> D:
    """Return the description with the ladder of the command line, if it says one."""
    said = {"immediate": arguments.immediate_retries, "delayed": arguments.delayed_retries}
    counts = {name: count for name, count in said.items() if count is not None}
    if not counts and not arguments.ordered:
        return described
    found = described.ladder if isinstance(described.ladder, Ladder) else Ladder()
    return replace(
        described, ladder=replace(found, **counts, ordered=arguments.ordered, said=found.said or bool(counts))
    )


def hint_for_name(path: Path) -> str | None:
    """Return what to do about a file that is none to read, by its name; None for any other."""
    if path.suffix == ".tf" or path.name.endswith(".tf.json"):
        return f"a file of Terraform is not read here; {DEPLOYED}"
    if path.is_dir():
        return "this is a folder; give the template in it"
    if path.name in {"host.json", "function_app.py"}:
        return (
            "it is read with a Bicep file; give that, or run `recoverable local azure`, which notes what is wrong in it"
        )
    if not path.exists():
        return "there is no such file"
    return None


def hint_for_content(document: Mapping[str, Any]) -> str | None:
    """Return what to do about a template that is not CloudFormation's; None for any other."""
    if "deploymentTemplate.json" in str(document.get("$schema")):
        return "a template of Azure Resource Manager is not read here; give the Bicep file that it was made from"
    if "functions" in document and "provider" in document:
        return "a file of the Serverless Framework is not read here; give the template that `serverless package` makes in .serverless/"
    return None
