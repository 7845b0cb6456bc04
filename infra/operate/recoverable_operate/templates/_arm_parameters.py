"""Read the values of an ARM template's parameters: of the command line, of ARM's files, and of azd's with `${NAME}` in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from recoverable_operate.templates._arm_functions import Later, find
from recoverable_operate.templates._arm_resources import parse_template
from recoverable_operate.templates._document import TemplateError

_FROM_ENVIRONMENT = re.compile(r"\$\{(\w+)(?:=([^}]*))?\}")


def typed(declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of the command line, of the types that a template declares.

    Raises:
        TemplateError: there is no such parameter, or its value is of another type.
    """
    found = {}
    for name, text in given.items():
        if (declaration := find(declared, name)) is None:
            raise TemplateError(f"there is no parameter {name}; the file has {', '.join(declared) or 'none'}")
        kind = str(declaration.get("type", "string")).lower()
        try:
            found[name.lower()] = text if kind in ("string", "securestring") else json.loads(text)
        except ValueError as error:
            raise TemplateError(f"--parameter: {name} is {text!r}, and its type is {kind}") from error
    return found


def read_parameters(text: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of a file: ARM's, or azd's, whose `${NAME}` and `${NAME=default}` the environment says.

    Raises:
        TemplateError: it is no such file.
    """
    section = parse_template(text).get("parameters")
    if not isinstance(section, dict):
        raise TemplateError("a file of parameters has an object parameters, and this one has none")
    return {name.lower(): said(name, each, environment) for name, each in section.items()}


def said(name: str, parameter: Any, environment: Mapping[str, str]) -> Any:
    """Return the value of a parameter."""
    if not isinstance(parameter, dict) or "value" not in parameter:
        return Later(f"parameters({name})", why=f"the parameter {name} is a secret of a key vault")
    return filled(parameter["value"], environment)


def filled(found: Any, environment: Mapping[str, str]) -> Any:
    """Return a value with what the environment says in it; what it does not say stands in angle brackets."""
    match found:
        case str() if _FROM_ENVIRONMENT.search(found):
            text = _FROM_ENVIRONMENT.sub(
                lambda it: environment.get(it[1], f"<{it[1]}>" if it[2] is None else it[2]), found
            )
            return Later(text[1:-1]) if re.fullmatch(r"<\w+>", text) else text
        case dict():
            return {key: filled(each, environment) for key, each in found.items()}
        case list():
            return [filled(each, environment) for each in found]
        case _:
            return found
