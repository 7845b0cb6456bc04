"""Look at what the arguments name: templates, a deployed function, a deployed queue; and apply the rules to it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from recoverable_operate._check.aws_client import Aws, describe_function, describe_queue
from recoverable_operate._check.service_bus_client import describe_entity
from recoverable_operate.errors import OperateError
from recoverable_operate.errors._aws.session_client import Access
from recoverable_operate.errors._azure.entity import entity_of
from recoverable_operate.rules import (
    PLAIN_SERVICE_BUS_RULES,
    PLAIN_SQS_RULES,
    SERVICE_BUS_RULES,
    SQS_RULES,
    Check,
    Function,
    Ladder,
    OnServiceBus,
    OnSqs,
    check,
)
from recoverable_operate.templates import (
    ArmScope,
    DescribedTemplate,
    Place,
    TemplateError,
    Waiver,
    compiled,
    describe_service_bus,
    describe_template,
    parse_document,
    parse_template,
    read_parameters,
    read_template,
    typed,
)

D = TypeVar("D", OnSqs, OnServiceBus)

COMPILED = (".bicep", ".bicepparam")

ARM = re.compile(r'"\$schema"\s*:[^\n]*deploymentTemplate\.json', re.IGNORECASE)
"""How a template of Azure Resource Manager says what it is, at each level."""

TEMPLATE = re.compile(r"template\.(ya?ml|json)|[^.].*[.-]template\.(ya?ml|json)|main\.bicep")
"""The names that templates have in a folder."""

DEPLOYED = "check what it deployed, with --function NAME or --queue QUEUE"


@dataclass(frozen=True, slots=True)
class Look:
    """The result of a look, with the rules applied.

    Args:
        what: the file, or the address of what is deployed.
        checks: one for each rule and function.
        left_alone: the functions that use nothing of this package.
        places: where in which file things are written, by the names that findings have for them.
        waivers: what a file says is meant as it is.
        nothing: what was looked for where there is neither an endpoint nor a function that reads a queue; empty where there is.
    """

    what: str
    checks: tuple[Check, ...]
    left_alone: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    nothing: str = ""


def look_at_file(path: Path, arguments: argparse.Namespace) -> Look:
    """Look at a template of AWS or Azure, or at a Bicep file.

    Raises:
        OperateError: it cannot be read.
    """
    if hint := hint_for_name(path):
        raise OperateError(f"{path}: {hint}")
    try:
        if path.suffix in COMPILED:
            return look_at_arm(path, *compiled(path, arguments.bicep), arguments)
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix in (".json", ".jsonc") and ARM.search(text):
            return look_at_arm(path, text, "", arguments)
        template = look_at_template(path, text, arguments)
    except ModuleNotFoundError as error:
        raise OperateError(f"templates need {error.name}: pip install 'recoverable-operate[check]'") from None
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        raise OperateError(f"{path}: {error}") from error
    functions = chosen(template.functions, path, arguments.function)
    rules = PLAIN_SQS_RULES if arguments.all else SQS_RULES
    checks = (*checked(functions, rules, arguments), *template.parts)
    is_read = template.functions or template.left_alone
    nothing = "" if is_read else "functions with an event or a mapping of SQS, and endpoints in the code of functions"
    return Look(str(path), checks, template.left_alone, template.places, template.waivers, nothing)


def look_at_arm(path: Path, template: str, parameters: str, arguments: argparse.Namespace) -> Look:
    """Look at an ARM template.

    Args:
        path: of the file that it is in, or that makes it.
        template: its text.
        parameters: the text of its file of parameters; empty for none.
        arguments: of the command line.

    Raises:
        TemplateError: it is none.
    """
    document = parse_template(template)
    files = [parameters] if parameters else []
    files += [each.read_text(encoding="utf-8-sig") for each in arguments.parameters]
    given = {name: each for text in files for name, each in read_parameters(text, os.environ).items()}
    given |= typed(document.get("parameters") or {}, dict(arguments.parameter))
    assumed = assumed_queues(arguments.assume)
    found = describe_service_bus(ArmScope(document, given), path, arguments.app, assumed, every=arguments.all)
    rules = PLAIN_SERVICE_BUS_RULES if arguments.all else SERVICE_BUS_RULES
    checks = (*checked(found.queues, rules, arguments), *found.parts)
    nothing = (
        "" if found.is_read else "queues of Service Bus, and in the app's code triggers and endpoints that read one"
    )
    return Look(str(path), checks, found.left_alone, found.places, nothing=nothing)


def look_at_template(path: Path, text: str, arguments: argparse.Namespace) -> DescribedTemplate:
    """Describe a template of AWS.

    Raises:
        TemplateError: it is none.
    """
    document = parse_document(text)
    if hint := hint_for_content(document):
        raise TemplateError(hint)
    assumed = assumed_queues(arguments.assume)
    read = read_template(document, dict(arguments.parameter), lenient=True, path=path, assumed=assumed)
    return describe_template(read, named=arguments.function, every=arguments.all)


def assumed_queues(file: Path | None) -> Mapping[str, Any]:
    """Return the properties of queues of other stacks, by their names.

    Raises:
        TemplateError: the file says something else.
    """
    if file is None:
        return {}
    queues = parse_document(file.read_text(encoding="utf-8-sig")).get("Queues")
    if not isinstance(queues, dict) or not all(isinstance(each, dict) for each in queues.values()):
        raise TemplateError(f"{file} is to say Queues: {{NAME: {{VisibilityTimeout: 180}}}}; it says {queues!r:.80}")
    return queues


def checked(described: Iterable[D], rules: Any, arguments: argparse.Namespace) -> tuple[Check, ...]:
    """Apply the rules to descriptions, but for those that are to be left out."""
    wanted = [each for each in rules if each.name not in arguments.ignore]
    return tuple(each for one in described for each in check(wanted, with_ladder(one, arguments)))


def chosen(found: tuple[OnSqs, ...], path: Path, name: str | None) -> tuple[OnSqs, ...]:
    """Return the functions of a template, or the one that is named.

    Raises:
        OperateError: nothing has that name.
    """
    names = {each.function.name: each for each in found if isinstance(each.function, Function)}
    if name is None:
        return found
    if name not in names:
        raise OperateError(f"{path}: no function {name} reads a queue; {', '.join(names) or 'none'} do")
    return tuple(each for each in found if getattr(each.function, "name", None) == name)


def look_at_function(arguments: argparse.Namespace) -> Look:
    """Look at a deployed Lambda function.

    Raises:
        OperateError: it cannot be read.
    """
    described = describe_function(Aws(access(arguments)), arguments.function)
    return Look(arguments.function, checked(described, SQS_RULES, arguments))


def look_at_queue(arguments: argparse.Namespace) -> Look:
    """Look at a deployed queue.

    Raises:
        OperateError: it cannot be read.
    """
    if not arguments.queue.startswith("sb://"):
        return Look(
            arguments.queue, checked(describe_queue(Aws(access(arguments)), arguments.queue), SQS_RULES, arguments)
        )
    connection = os.environ.get(arguments.connection)
    described = describe_entity(entity_of(arguments.queue), connection, arguments.connection)
    return Look(arguments.queue, checked(described, SERVICE_BUS_RULES, arguments))


def access(arguments: argparse.Namespace) -> Access:
    """Return how AWS is reached."""
    return Access(
        profile=arguments.profile, region=arguments.region, role=arguments.role, endpoint_url=arguments.endpoint_url
    )


def with_ladder(described: D, arguments: argparse.Namespace) -> D:
    """Return the description with the ladder of the command line, if it says one."""
    immediate, delayed = arguments.immediate_retries, arguments.delayed_retries
    if immediate is None and delayed is None and not arguments.ordered:
        return described
    found = described.ladder if isinstance(described.ladder, Ladder) else Ladder()
    said = Ladder(
        found.immediate if immediate is None else found.immediate.replace(max_retries=immediate),
        found.delayed if delayed is None else found.delayed.replace(max_retries=delayed),
        said=found.said or immediate is not None or delayed is not None,
        ordered=arguments.ordered or found.ordered,
    )
    return replace(described, ladder=said)


def files_in(path: Path) -> list[Path]:
    """Return the templates of a folder and those below it; a file itself."""
    found = (each for each in path.rglob("*") if TEMPLATE.fullmatch(each.name)) if path.is_dir() else ()
    below = [each for each in found if not any(is_built(part) for part in each.relative_to(path).parts[:-1])]
    return sorted(below) or [path]


def is_built(folder: str) -> bool:
    """True if a folder holds what tools made or fetched."""
    return folder.startswith(".") or folder in ("node_modules", "__MACOSX")


def hint_for_name(path: Path) -> str | None:
    """Return what to do about a file that is none to read, by its name; None for any other."""
    if path.suffix == ".tf" or path.name.endswith(".tf.json"):
        return f"a file of Terraform is not read here; {DEPLOYED}"
    if path.is_dir():
        return "there is no template in this folder; give one"
    if path.name in {"host.json", "function_app.py"}:
        return "it is read with the template that deploys it; give that, or run `recoverable local azure`, which notes what is wrong in it"
    if not path.exists():
        return "there is no such file"
    return None


def hint_for_content(document: Mapping[str, Any]) -> str | None:
    """Return what to do about a file that is no template of CloudFormation; None for a template."""
    if "deploymentParameters.json" in str(document.get("$schema")):
        return "it holds parameters; give the template, and this with --parameters"
    if "functions" in document and "provider" in document:
        return "a file of the Serverless Framework is not read here; give the template that `serverless package` makes in .serverless/"
    if "planned_values" in document or "terraform_version" in document:
        return f"a plan of Terraform is not read here; {DEPLOYED}"
    if "Resources" not in document:
        return "a template has a section Resources, and this one has none"
    return None
