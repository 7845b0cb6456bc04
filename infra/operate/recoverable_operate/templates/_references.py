"""Find the references of a template to resources and parameters that it does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recoverable_operate.rules._names import Dangling, near
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import section
from recoverable_operate.templates._intrinsics import LOOP, Scope

SAM_TRANSFORM = "AWS::Serverless-2016-10-31"
HARMLESS = {
    SAM_TRANSFORM,
    "AWS::LanguageExtensions",
    "AWS::CodeDeployBlueGreen",
    "AWS::SecretsManager-2024-09-16",
    "AWS::SecretsManager-2020-07-23",
}
"""Transforms that add no resource to which a template refers, but those that SAM names after its own."""

GENERATED = ("Serverless", "CodeDeploy")
"""How logical ids begin that SAM makes beside those that begin with the id of a resource ("Generated CloudFormation resources")."""


def dangling_of(document: Mapping[str, Any], scope: Scope) -> tuple[Dangling, ...] | Unknown:
    """Return the references to what is not there; Unknown if a macro may bring it."""
    known = {*scope.resources, *scope.parameters}
    found = tuple(
        Dangling(where, f"{form} {name}", near(name, known))
        for where, part in {**scope.resources, **parts(document)}.items()
        for form, name in references_in(part)
        if name not in known and not name.startswith("AWS::") and not is_generated(name, scope)
    )
    macros = [str(each) for each in transforms(document) if each not in HARMLESS]
    if found and macros:
        return Unknown(
            f"{found[0].where} has a {found[0].what}, which is not here, and the macro {macros[0]} may make it"
        )
    return tuple(dict.fromkeys(found))


def parts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs and conditions of a template, by what a report calls them."""
    named = {"Outputs": "the output", "Conditions": "the condition"}
    return {
        f"{title} {name}": value
        for kind, title in named.items()
        for name, value in section(document, kind).items()
        if not str(name).startswith(LOOP)
    }


def transforms(document: Mapping[str, Any]) -> list[Any]:
    """Return the transforms of a template; a macro with parameters by its name."""
    said = document.get("Transform") or []
    return [
        each.get("Name") if isinstance(each, dict) else each for each in (said if isinstance(said, list) else [said])
    ]


def is_generated(name: str, scope: Scope) -> bool:
    """True if SAM may make a resource of this name."""
    serverless = [
        each for each, resource in scope.resources.items() if resource["Type"].startswith("AWS::Serverless::")
    ]
    return bool(serverless) and name.startswith((*GENERATED, *serverless))


def references_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield each reference: its form, and the name."""
    if isinstance(value, dict) and len(value) == 1:
        yield from referred(value)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from references_in(inner)


def referred(call: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what one intrinsic function refers to by itself."""
    match call:
        case {"Ref": str(name)}:
            yield "Ref", name
        case {"Fn::GetAtt": str(name) | [str(name), *_]}:
            yield "GetAtt", name.partition(".")[0]
        case {"Fn::Sub": str(text)}:
            yield from (("Sub", name) for name in names_in(text))
        case {"Fn::Sub": [str(text), dict(given)]}:
            yield from (("Sub", name) for name in names_in(text) if name not in given)
        case _:
            pass


def names_in(text: str) -> Iterator[str]:
    """Yield the names to which a text of `Fn::Sub` refers."""
    for found in re.findall(r"\$\{([^!}][^}]*)\}", text):
        yield found.strip().partition(".")[0] if "::" not in found else found.strip()
