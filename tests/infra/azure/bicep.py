"""infra/azure/main.bicep as data: what it would deploy under given parameters, as far as that is known before it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pycep import BicepParser

from infra.azure.bicep_functions import TWO_SIDED, called

ROOT = Path(__file__).parents[3]
SOURCE = (ROOT / "infra" / "azure" / "main.bicep").read_text()

INSIDE = re.compile(r"\$\{([^}]*)\}")


class Deployment:
    """The resources that the template deploys.

    Args:
        parameters: their values; the others have their defaults.
        source: the template.
    """

    def __init__(self, parameters: Mapping[str, Any] | None = None, source: str = SOURCE) -> None:
        self._parsed = parsed(source)
        self.parameters: dict[str, Any] = self._parsed["parameters"]
        self._given = dict(parameters or {})
        self._bound: dict[str, Any] = {}
        self.resources: dict[str, dict[str, Any]] = {
            name: {**found, "config": self._value(unconditional(found["config"]))}
            for name, found in self._parsed["resources"].items()
            if self._value(found["config"].get("condition", True))
        }
        self.outputs = {name: self._value(found["value"]) for name, found in self._parsed["outputs"].items()}

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the resources of a type, by their symbolic names, as they are configured."""
        return {name: found["config"] for name, found in self.resources.items() if found["type"] == kind}

    def config(self, name: str) -> dict[str, Any]:
        """Return a resource as it is configured."""
        found: dict[str, Any] = self.resources[name]["config"]
        return found

    def properties(self, name: str) -> dict[str, Any]:
        """Return a resource's properties."""
        found: dict[str, Any] = self.config(name)["properties"]
        return found

    def bounds(self, name: str) -> list[Any]:
        """Return what a parameter allows: each value of a choice, both ends of a range."""
        decorators = {each["type"]: each["argument"] for each in self.parameters[name]["decorators"]}
        return list(decorators.get("allowed") or (decorators["min_value"], decorators["max_value"]))

    def _value(self, node: Any) -> Any:
        match node:
            case {"operator": {"type": operator, "operands": operands}}:
                return self._operated(operator, operands)
            case {"function": {"type": name, "parameters": arguments}}:
                return self._called(name, arguments)
            case dict():
                return {self._filled(key.strip("'")): self._value(inner) for key, inner in node.items()}
            case list():
                return [self._value(inner) for inner in node]
            case str():
                return self._text(node)
            case _:
                return node

    def _operated(self, operator: str, operands: Mapping[str, Any]) -> Any:
        match operator:
            case "conditional":
                chosen = "true_value" if self._value(operands["condition"]) else "false_value"
                return self._value(operands[chosen])
            case "not":
                return not self._value(operands["bool_value"])
            case "and" | "equals" | "greater_than" | "divide":
                return TWO_SIDED[operator](self._value(operands["operand_1"]), self._value(operands["operand_2"]))
            case "property_accessor":
                return self._property(path(operands))
            case _:
                raise AssertionError(f"no operator that this reader knows: {operator}")

    def _called(self, function: str, arguments: Mapping[str, Any]) -> Any:
        if function == "filter":
            return self._filtered(**arguments)
        return called(function, [self._value(each) for each in arguments.values() if each is not None])

    def _filtered(self, input_array: Any, expression: Mapping[str, Any]) -> list[Any]:
        """Return the values of a list for which a lambda is true."""
        detail, kept = expression["detail"], []
        for each in self._value(input_array):
            self._bound = {detail["var_1"]: each}
            if self._value(detail["expression"]):
                kept.append(each)
        self._bound = {}
        return kept

    def _text(self, text: str) -> Any:
        """Return a text with its references replaced, or the value with that name: the parser does not distinguish the two."""
        if text in self._bound:
            return self._bound[text]
        if text in self._parsed["parameters"]:
            return self._given.get(text, self._value(self._parsed["parameters"][text].get("default", text)))
        if text in self._parsed["variables"]:
            return self._value(self._parsed["variables"][text]["value"])
        return self._filled(text)

    def _filled(self, text: str) -> str:
        return INSIDE.sub(lambda found: str(self._inside(found[1])), text)

    def _inside(self, expression: str) -> Any:
        is_path = re.fullmatch(r"[\w.]+", expression)
        return self._property(expression.split(".")) if is_path else f"<{expression}>"

    def _property(self, names: list[str]) -> Any:
        """Return a resource's name; what only Azure knows stands as it is written, in angle brackets."""
        match names:
            case [name]:
                return self._text(name)
            case [resource, "name"]:
                return self._value(unconditional(self._parsed["resources"][resource]["config"])["name"])
            case _:
                return f"<{'.'.join(names)}>"


def unconditional(config: dict[str, Any]) -> dict[str, Any]:
    """Return a resource's configuration, whether it stands behind a condition or not."""
    found: dict[str, Any] = config["config"] if "condition" in config else config
    return found


@cache
def parsed(source: str) -> dict[str, Any]:
    """Parse a template."""
    return dict(BicepParser().parse(text=source))


def path(operands: Mapping[str, Any]) -> list[str]:
    """Return the names of `a.b.c`, which the parser nests to the right; what is no name stands as it is written."""
    match operands["operand_1"], operands["operand_2"]:
        case str(first), {"operator": {"operands": rest}}:
            return [first, *path(rest)]
        case str(first), str(second):
            return [first, second]
        case {"function": {"type": function}}, str(second):
            return [f"{function}()", second]
        case other:
            raise AssertionError(f"no form that this reader knows: {other}")
