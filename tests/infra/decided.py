"""What remains of a template once the values of its parameters are known: its conditions decided, its choices made."""

from __future__ import annotations

from typing import Any

from infra.sam_template import Parameters, Template, filled_in

NOTHING = {"Ref": "AWS::NoValue"}


def decided(source: Template, parameters: Parameters) -> Template:
    """Return the template as CloudFormation reads it with these parameters; those not given have their defaults.

    Args:
        source: the template.
        parameters: values by name.

    Raises:
        AssertionError: one of the template's rules forbids them, in the rule's own words.
    """
    defaults = {name: parameter.get("Default") for name, parameter in source["Parameters"].items()}
    written = filled_in(source, {**defaults, **parameters})
    for rule in written.pop("Rules", {}).values():
        for assertion in rule["Assertions"]:
            assert holds(assertion["Assert"], {}), assertion["AssertDescription"]
    conditions = written.pop("Conditions")
    del written["Parameters"]
    return {name: chosen(section, conditions) for name, section in written.items()}


def holds(condition: Any, conditions: Template) -> bool:
    """True if a condition is true.

    Args:
        condition: what makes it up.
        conditions: the template's, by name.
    """
    match condition:
        case {"Condition": str(name)}:
            return holds(conditions[name], conditions)
        case {"Fn::Equals": [left, right]}:
            return str(left) == str(right)
        case {"Fn::Not": [inner]}:
            return not holds(inner, conditions)
        case {"Fn::And": list(parts)}:
            return all(holds(part, conditions) for part in parts)
        case {"Fn::Or": list(parts)}:
            return any(holds(part, conditions) for part in parts)
        case _:
            raise AssertionError(f"no condition that this knows: {condition}")


def chosen(node: Any, conditions: Template) -> Any:
    """Return a part of a template with each `Fn::If` replaced by the branch that holds, and without what no condition wants."""
    match node:
        case {"Fn::If": [str(name), then, otherwise]}:
            return chosen(then if holds({"Condition": name}, conditions) else otherwise, conditions)
        case dict():
            kept = {key: chosen(value, conditions) for key, value in node.items() if wanted(value, conditions)}
            return {key: without_condition(value) for key, value in kept.items() if value != NOTHING}
        case list():
            return [item for inner in node if (item := chosen(inner, conditions)) != NOTHING]
        case _:
            return node


def wanted(value: Any, conditions: Template) -> bool:
    """True if a resource or output is there: those without a condition are."""
    match value:
        case {"Condition": str(name), **others} if others:
            return holds({"Condition": name}, conditions)
        case _:
            return True


def without_condition(value: Any) -> Any:
    """Return a resource or output whose condition is decided."""
    match value:
        case {"Condition": str(), **others} if others:
            return others
        case _:
            return value
