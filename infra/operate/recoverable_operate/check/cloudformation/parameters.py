"""Resolve the section `Parameters`: take given values or defaults, and check them against what the template allows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recoverable_operate.check.cloudformation.document import TemplateError, as_text

NOT_HERE = object()
"""The value of a parameter that has none before the template is deployed, such as one that AWS reads from SSM."""


def parse_parameters(declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of every declared parameter.

    Args:
        declared: The template's section `Parameters`.
        given: Values by name.

    Raises:
        TemplateError: A name is not declared, a parameter has no value, or a value is not allowed. A parameter whose value is in SSM
            is `NOT_HERE`, which is refused where it is used.
    """
    for name in given:
        if name not in declared:
            raise TemplateError(f"There is no parameter {name!r}; the template has: {', '.join(declared) or 'none'}.")
    return {name: _value(name, declaration, given.get(name)) for name, declaration in declared.items()}


def no_value(name: str) -> TemplateError:
    """Make the error for a parameter that has no value here."""
    return TemplateError(f"The parameter {name} has no value here; give it with --parameter {name}=VALUE.")


def _value(name: str, declaration: Any, given: str | None) -> Any:
    if not isinstance(declaration, dict):
        raise TemplateError(
            f"The parameter {name} is {declaration!r:.80}; write a mapping with a Type, such as String."
        )
    kind = str(declaration.get("Type", "String"))
    value = declaration.get("Default") if given is None else given
    if given is None and kind.startswith("AWS::SSM::"):
        return NOT_HERE
    if value is None:
        raise no_value(name)
    text = as_text(value)
    _check(name, text, declaration)
    return text.split(",") if "List" in kind else text


def _check(name: str, text: str, declaration: Mapping[str, Any]) -> None:
    allowed = [as_text(choice) for choice in declaration.get("AllowedValues") or [text]]
    if text not in allowed:
        raise TemplateError(f"The parameter {name} is {text!r}; the template allows {', '.join(allowed)}.")
    if not re.fullmatch(declaration.get("AllowedPattern", ".*"), text, re.DOTALL):
        raise TemplateError(f"The parameter {name} is {text!r}; the template wants {declaration['AllowedPattern']}.")
    if declaration.get("Type") == "Number":
        _check_number(name, text, declaration.get("MinValue", "-inf"), declaration.get("MaxValue", "inf"))


def _check_number(name: str, text: str, minimum: Any, maximum: Any) -> None:
    try:
        within = float(minimum) <= float(text) <= float(maximum)
    except ValueError:
        within = False
    if not within:
        raise TemplateError(
            f"The parameter {name} is {text!r}; the template wants a number from {minimum} to {maximum}."
        )
