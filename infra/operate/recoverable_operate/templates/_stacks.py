"""Read a template and the nested stacks in its folder as one: each with the values of its parameters, and its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recoverable_operate.rules._rule import Check, Unknown
from recoverable_operate.templates._document import (
    NOT_HERE,
    TemplateError,
    as_text,
    maybe,
    parse_document,
    parse_known_parameters,
    parse_parameters,
    resources_of,
    section,
)
from recoverable_operate.templates._intrinsics import Scope, expand_section, resolve
from recoverable_operate.templates._properties import ASSUMED, QUEUE, Properties, resources, with_names

ACCOUNT = "000000000000"
"""Stands for the account until the template is deployed."""

NESTED = {"AWS::CloudFormation::Stack": "TemplateURL", "AWS::Serverless::Application": "Location"}
"""The resources that are stacks, and the property that says where their template is."""

MOST_STACKS_DEEP = 5

PARTS = "all-parts"
"""The name under which a part of a template is counted that is read, or cannot be."""


@dataclass(frozen=True, slots=True)
class SamTemplate:
    """A template as it is written, with the values of its parameters.

    Args:
        document: what was parsed.
        scope: its names and their values; resources have none yet.
        notes: what of it could not be expanded, and is left out.
        path: of its file; None where only what is in the document can be read.
    """

    document: Mapping[str, Any]
    scope: Scope
    notes: tuple[str, ...] = ()
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A template whose resources have names.

    Args:
        template: as it is written.
        scope: its names and their values.
        name: how the names of its resources begin; empty for the outermost.
        parts: the nested stacks and loops, read or not.
        inner: the nested stacks that were read.
    """

    template: SamTemplate
    scope: Scope
    name: str = ""
    parts: tuple[Check, ...] = ()
    inner: tuple[Stack, ...] = ()

    def all(self) -> Iterator[Stack]:
        """Yield this stack and all that are in it."""
        yield self
        for each in self.inner:
            yield from each.all()


def read_template(
    document: Mapping[str, Any],
    given: Mapping[str, str],
    *,
    region: str = "us-east-1",
    stack_name: str = "<stack>",
    lenient: bool = False,
    path: Path | None = None,
    unknown: tuple[str, ...] = (),
    assumed: Mapping[str, Any] | None = None,
) -> SamTemplate:
    """Return a parsed template with the values of its parameters, and with its loops expanded.

    Args:
        document: what was parsed.
        given: values of parameters; the others have their defaults.
        region: the value of `AWS::Region`.
        stack_name: the value of `AWS::StackName`.
        lenient: True to refuse a parameter without a value, or with one that is not allowed, only where it is used; a given one always.
        path: of its file.
        unknown: the parameters that are given values which are not known here.
        assumed: the properties of queues of other stacks, by their names, besides those that `Metadata` says.

    Raises:
        TemplateError: a section is none, a given parameter is not in the template, or a parameter has no value that is allowed.
    """
    read = parse_known_parameters if lenient else parse_parameters
    values = read(section(document, "Parameters"), given) | dict.fromkeys(unknown, NOT_HERE)
    scope = Scope(
        parameters={**pseudo_parameters(region, stack_name), **values},
        mappings=section(document, "Mappings"),
        conditions=section(document, "Conditions"),
        resources={},
        attributes={},
    )
    resources, notes = expand_section(section(document, "Resources"), scope)
    others = {**section(ours(document), "Queues"), **(assumed or {})}
    queues = {
        f"{ASSUMED}{name}": {"Type": QUEUE, "Properties": {**each, "QueueName": name}} for name, each in others.items()
    }
    return SamTemplate(document, replace(scope, resources=resources_of({**resources, **queues})), notes, path)


def ours(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the `Metadata` of a template or a resource says to this package; nothing where it says nothing.

    Raises:
        TemplateError: it is no mapping.
    """
    return section(section(part, "Metadata"), "Recoverable")


def pseudo_parameters(region: str, stack_name: str) -> dict[str, str]:
    """Return the values of the parameters that CloudFormation has for each template."""
    return {
        "AWS::Region": region,
        "AWS::AccountId": ACCOUNT,
        "AWS::Partition": "aws",
        "AWS::URLSuffix": "amazonaws.com",
        "AWS::StackName": stack_name,
        "AWS::StackId": f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{stack_name}/0",
    }


def stack_of(template: SamTemplate, name: str = "", above: tuple[Path, ...] = ()) -> Stack:
    """Return a template with names for its resources, and with its nested stacks.

    Args:
        template: the outermost, or a nested one.
        name: how the names of its resources begin.
        above: the files of the templates that it is nested in.
    """
    scope = with_names(template.scope, name)
    stacks = list(resources(scope, *NESTED))
    loops = tuple(Check(PARTS, name or "the template", not_checked=note) for note in template.notes)
    read: list[Stack | Check] = []
    for _ in stacks[:MOST_STACKS_DEEP]:  # one may be given the outputs of another
        read = [nested(replace(each, scope=scope), name, template.path, above) for each in stacks]
        before, scope = scope, with_outputs(scope, stacks, read)
        if scope.attributes == before.attributes:
            break
    inner = tuple(each for each in read if isinstance(each, Stack))
    parts = (*loops, *(each if isinstance(each, Check) else Check(PARTS, each.name.rstrip(".")) for each in read))
    return Stack(template, scope, name, parts, inner)


def with_outputs(scope: Scope, stacks: list[Properties], read: list[Stack | Check]) -> Scope:
    """Return the scope with the outputs of those nested stacks that were read."""
    attributes = dict(scope.attributes)
    for stack, found in zip(stacks, read, strict=True):
        if isinstance(found, Stack):
            attributes[stack.where] = {**attributes[stack.where], **outputs_of(found)}
    return replace(scope, attributes=attributes)


def nested(stack: Properties, outer: str, path: Path | None, above: tuple[Path, ...]) -> Stack | Check:
    """Return a nested stack, or why it is not read.

    Args:
        stack: its properties.
        outer: how the names of the stack around it begin.
        path: the file of that.
        above: the files around that.
    """
    try:
        file = file_of(stack, path, above)
        given = stack.part("Parameters")
        values = {name: maybe(lambda name=name: given.get(name)) for name in given.values}  # type: ignore[misc]
        known = {
            name: given_text(each)
            for name, each in values.items()
            if each is not None and not isinstance(each, Unknown)
        }
        unknown = tuple(name for name, each in values.items() if isinstance(each, Unknown))
        document = parse_document(file.read_text(encoding="utf-8-sig"))
        inner = read_template(document, known, lenient=True, path=file, unknown=unknown)
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        why = f"the nested stack {stack.where} is not read: {str(error).rstrip('.')}"
        return Check(PARTS, f"{outer}{stack.where}", not_checked=why)
    return stack_of(inner, f"{outer}{stack.where}.", (*above, *([path.resolve()] if path else [])))


def given_text(value: Any) -> str:
    """Return the value of a parameter as a stack is given it."""
    return ",".join(map(as_text, value)) if isinstance(value, list) else as_text(value)


def file_of(stack: Properties, path: Path | None, above: tuple[Path, ...]) -> Path:
    """Return the file of a nested stack.

    Raises:
        TemplateError: it is none here, or one of those around it.
    """
    place = stack.get(NESTED[stack.scope.resources[stack.where]["Type"]])
    if not isinstance(place, str) or "://" in place or path is None:
        raise TemplateError("its template is not a file here")
    file = (path.parent / place).resolve()
    if file in (*above, path.resolve()) or len(above) == MOST_STACKS_DEEP:
        raise TemplateError("it is nested in itself, or too deep")
    return file


def outputs_of(stack: Stack) -> dict[str, str]:
    """Return the outputs of a nested stack that are known, as attributes."""
    found = {
        name: maybe(lambda output=output: resolve(output.get("Value"), stack.scope))  # type: ignore[misc]
        for name, output in section(stack.template.document, "Outputs").items()
        if isinstance(output, dict)
    }
    return {f"Outputs.{name}": str(value) for name, value in found.items() if isinstance(value, str | int)}
