"""Work out the values of an ARM template: parameters, variables, copies, lambdas, its own functions, and the outputs of its modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recoverable_operate.rules._names import PLACEHOLDER
from recoverable_operate.templates._arm_expressions import Access, Call, Expression, Literal, parse_expression
from recoverable_operate.templates._arm_functions import (
    FUNCTIONS,
    LONGEST_RANGE,
    OF_LISTS,
    TRANSPARENT,
    Later,
    find,
    is_open,
    read_safely,
    resource_id,
)
from recoverable_operate.templates._document import TemplateError, measure

LONGEST_TEXT = 1_000_000
LONGEST_NAME = 40
"""How much of an expression stands for its value."""

MODULE = "microsoft.resources/deployments"

IN_AZURE: Mapping[str, str] = {name.lower(): name for name in (
    "deployer", "deployment", "environment", "guid", "managementGroup", "newGuid", "pickZones", "providers", "resourceGroup",
    "resourceInfo", "subscription", "tenant", "uniqueString", "utcNow",
)}  # fmt: skip
"""Functions whose results Azure alone knows, besides those that begin with `list`."""


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a module's parameter: an expression of the template around it."""

    node: Any
    scope: Scope


@dataclass(frozen=True, slots=True)
class Scope:
    """A template with the values that its expressions refer to.

    Args:
        template: as it is written.
        given: the values of its parameters, by their names in small letters.
        index: the places in the loops around an expression, by the loops' names, the innermost last.
        bound: the values of a lambda's variables.
        worked_out: the values of parameters, variables and modules that were needed already.
    """

    template: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    index: Mapping[str, Any] = field(default_factory=dict)
    bound: Mapping[str, Any] = field(default_factory=dict)
    worked_out: dict[tuple[str, str], Any] = field(default_factory=dict)

    def once(self, kind: str, name: str, work_out: Callable[[Scope], Any]) -> Any:
        """Return a value of the whole template, which is worked out once; one that refers to itself is not known."""
        key = (kind, name.lower())
        if key not in self.worked_out:
            self.worked_out[key] = Later(name, why=f"the {kind} {name} refers to itself")
            self.worked_out[key] = work_out(replace(self, index={}, bound={}))
        return self.worked_out[key]


def value(node: Any, scope: Scope) -> Any:
    """Return the value of what a template says; each part of it that is not known is `Later`."""
    match node:
        case str() if node.startswith("[["):
            return node[1:]
        case str() if node.startswith("[") and node.endswith("]"):
            try:
                return evaluated(parse_expression(node[1:-1]), scope)
            except TemplateError as error:
                why = str(error)
            except RecursionError:
                why = "its values are nested too deep"
            return Later(node[1:LONGEST_NAME].rstrip("]"), why=why)
        case list():
            return [value(each, scope) for each in node]
        case dict():
            found = {str(value(key, scope)): value(each, scope) for key, each in node.items() if key != "copy"}
            return {**found, **copies(node.get("copy"), scope)}
        case _:
            return node


def copies(loops: Any, scope: Scope) -> dict[str, Any]:
    """Return the properties, or the variables, that loops make."""
    found = {}
    for loop in loops if isinstance(loops, list) else ():
        rounds = list(rounds_of(loop, scope))
        is_known = rounds == [] or not isinstance(rounds[0].index[str(loop.get("name"))], Later)
        items = [value(loop.get("input"), each) for each in rounds]
        found[str(loop.get("name"))] = items if is_known else Later(str(loop.get("name")))
    return found


def rounds_of(loop: Mapping[str, Any], scope: Scope) -> Iterator[Scope]:
    """Yield the scope of each round of a loop; one for all where it is not known how many there are.

    Raises:
        TemplateError: there are too many.
    """
    name, count = str(loop.get("name")), value(loop.get("count"), scope)
    if not isinstance(count, int):
        yield replace(scope, index={**scope.index, name: Later(f"copyIndex({name})")})
        return
    if count > LONGEST_RANGE:
        raise TemplateError(f"the loop {name} has {count} rounds")
    yield from (replace(scope, index={**scope.index, name: place}) for place in range(count))


def evaluated(node: Expression, scope: Scope) -> Any:
    """Return the value of an expression.

    Raises:
        TemplateError: it has none.
    """
    match node:
        case Literal(found):
            return found
        case Access(of, key):
            return property_of(evaluated(of, scope), evaluated(key, scope))
        case Call(name, arguments) if name in SPECIAL:
            return SPECIAL[name](arguments, scope)
        case Call(name, arguments):
            return called(name, [evaluated(each, scope) for each in arguments], scope)


def property_of(found: Any, key: Any) -> Any:
    """Return a property or an item of a value.

    Raises:
        TemplateError: there is none.
    """
    if isinstance(key, Later):
        return key
    if isinstance(found, dict) and not any(name.lower() == str(key).lower() for name in found):
        raise TemplateError(f"there is no {key} in what has a value here")
    if not isinstance(found, Later | dict | list):
        raise TemplateError(f"{found!r:.40} has no {key}")
    return read_safely(found, key)


def called(name: str, given: list[Any], scope: Scope) -> Any:
    """Return the result of a function: one of Azure's, or one of the template's own.

    Raises:
        TemplateError: it is not known, or it takes no such arguments.
    """
    written = f"{IN_AZURE.get(name, name)}({', '.join(map(str, given))})"
    if name in IN_AZURE or name.startswith("list"):
        return Later(written)
    if name not in FUNCTIONS:
        return own_function(name, given, scope)
    looked_at = [*given, *(each for one in given if isinstance(one, list) and name not in OF_LISTS for each in one)]
    if name not in TRANSPARENT and (unknown := next(filter(is_open, looked_at), None)) is not None:
        return Later(written, why=unknown.why if isinstance(unknown, Later) else "")
    try:
        found = FUNCTIONS[name](*given)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, StopIteration) as error:
        if isinstance(error, TemplateError):
            raise
        raise TemplateError(f"{name} cannot be used so: {error}") from error
    if isinstance(found, str) and len(found) > LONGEST_TEXT:
        raise TemplateError(f"{name} makes a text that is too long")
    if isinstance(found, str) and PLACEHOLDER.fullmatch(found):  # of one value that is not known, and nothing else
        return next((each for each in given if isinstance(each, Later)), Later(found[1:-1]))
    measure(found)
    return found


def own_function(name: str, given: list[Any], scope: Scope) -> Any:
    """Return the result of a function that the template defines."""
    namespace, _, member = name.rpartition(".")
    for group in scope.template.get("functions") or ():
        function = find(group.get("members") or {}, member)
        if str(group.get("namespace")).lower() == namespace and function is not None:
            names = [str(each["name"]).lower() for each in function.get("parameters") or ()]
            inside = {"parameters": {each: {} for each in names}, "functions": scope.template["functions"]}
            return value(
                (function.get("output") or {}).get("value"), Scope(inside, dict(zip(names, given, strict=False)))
            )
    raise TemplateError(f"the function {name} is not read here")


def parameter(arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """Return the value of a parameter: as given, else its default."""
    name = str(evaluated(arguments[0], scope))
    declared = find(scope.template.get("parameters") or {}, name)
    if declared is None:
        raise TemplateError(f"there is no parameter {name}")
    given = scope.given.get(name.lower())
    if isinstance(given, Given):
        found = scope.once("value given to", name, lambda _: value(given.node, given.scope))
    else:
        found = given
    if found is not None:
        return found
    if "defaultValue" in declared:  # which a module that is given null has too
        return scope.once("parameter", name, lambda outermost: value(declared["defaultValue"], outermost))
    if declared.get("nullable") or name.lower() in scope.given:
        return None
    why = f"the parameter {name} has no value here; give it with --parameter {name}=VALUE"
    return Later(f"parameters({name})", why=why)


def variable(arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """Return the value of a variable."""
    name = str(evaluated(arguments[0], scope))
    written = scope.template.get("variables") or {}
    loops = [each for each in written.get("copy") or () if str(each.get("name")).lower() == name.lower()]
    if loops:
        return scope.once("variable", name, lambda outermost: copies(loops, outermost)[str(loops[0]["name"])])
    if not any(key.lower() == name.lower() for key in written):
        raise TemplateError(f"there is no variable {name}")
    return scope.once("variable", name, lambda outermost: value(find(written, name), outermost))


def choice(arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """Return one of two values; only that is worked out."""
    condition, one, other = arguments
    return evaluated(one if evaluated(condition, scope) else other, scope)


def first_known(arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """Return the first value that is not null."""
    return next((found for each in arguments if (found := evaluated(each, scope)) is not None), None)


def place_in_loop(arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """Return the place in the innermost loop, or in one that is named, with an offset."""
    given = [evaluated(each, scope) for each in arguments]
    name = next((each for each in given if isinstance(each, str)), None)
    found = find(scope.index, name) if name is not None else next(reversed(list(scope.index.values())), None)
    if found is None:
        raise TemplateError("copyIndex stands in no loop of that name")
    offset = next((each for each in given if isinstance(each, int)), 0)
    return found if isinstance(found, Later) else found + offset


def function_of(arguments: tuple[Expression, ...], scope: Scope) -> Callable[..., Any]:
    """Return a lambda: the names of its variables come first, its body last."""
    *names, body = arguments
    variables = [str(evaluated(each, scope)) for each in names]

    def apply(*given: Any) -> Any:
        return evaluated(body, replace(scope, bound={**scope.bound, **dict(zip(variables, given, strict=False))}))

    return apply


def lambda_variable(arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """Return the value of a lambda's variable."""
    name = str(evaluated(arguments[0], scope))
    if name not in scope.bound:
        raise TemplateError(f"there is no variable {name} of a lambda")
    return scope.bound[name]


def reference(arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """Return the outputs of a module, or what stands for the properties of a resource, which Azure alone knows."""
    named = str(evaluated(arguments[0], scope))
    for symbol, resource in written_resources(scope.template):
        loop = resource.get("copy")
        for inside in rounds_of(loop, scope) if isinstance(loop, dict) else [scope]:
            place = inside.index.get(str(loop["name"])) if isinstance(loop, dict) else None
            id_ = id_of(resource, inside)
            if named in (symbol, f"{symbol}[{place}]") or (id_ is not None and named.lower().endswith(id_.lower())):
                is_module = str(resource.get("type")).lower() == MODULE
                return outputs_of(resource, inside, f"{id(resource)}[{place}]") if is_module else Later(id_ or symbol)
    return Later(named)


def written_resources(template: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the resources of a template with their symbolic names, which are their places in an older one."""
    section = template.get("resources") or []
    pairs = section.items() if isinstance(section, dict) else ((str(place), each) for place, each in enumerate(section))
    return [(str(symbol), each) for symbol, each in pairs if isinstance(each, dict)]


def id_of(resource: Mapping[str, Any], scope: Scope) -> str | None:
    """Return the id of a resource, from its provider on; None where its name does not fit its type."""
    try:
        return resource_id(str(resource.get("type")), str(value(resource.get("name"), scope)))
    except (ValueError, StopIteration):
        return None


def outputs_of(resource: Mapping[str, Any], scope: Scope, name: str) -> Any:
    """Return the outputs of a module."""

    def work_out(_: Scope) -> dict[str, Any]:
        inner = inside_of(resource, scope)
        outputs = inner.template.get("outputs") or {}
        loops = {key: each["copy"] for key, each in outputs.items() if isinstance(each.get("copy"), dict)}
        made = {key: {"value": value(each.get("value"), inner)} for key, each in outputs.items() if key not in loops}
        made |= {key: {"value": copies([{**loop, "name": key}], inner)[key]} for key, loop in loops.items()}
        return {"outputs": made}

    return scope.once("module", name, work_out)


def inside_of(resource: Mapping[str, Any], scope: Scope) -> Scope:
    """Return the scope of a module's template: its own, or that of the template around it with the module's resources."""
    properties = resource.get("properties") or {}
    template = properties.get("template") or {}
    if str((properties.get("expressionEvaluationOptions") or {}).get("scope", "outer")).lower() != "inner":
        parts = {key: template.get(key) for key in ("resources", "outputs")}
        return replace(scope, template={**scope.template, **parts})
    given = value_or_node(properties.get("parameters"), scope)
    return Scope(template, {key.lower(): parameter_value(each, scope) for key, each in given.items()})


def value_or_node(node: Any, scope: Scope) -> Mapping[str, Any]:
    """Return a section that is written as an object, or as an expression of one."""
    found = node if isinstance(node, dict) else value(node, scope)
    return found if isinstance(found, dict) else {}


def parameter_value(said: Any, scope: Scope) -> Any:
    """Return what a module, or a file of parameters, says of a parameter."""
    if isinstance(said, dict) and "value" in said:
        return Given(said["value"], scope)
    return Later("parameter", why="its value is a secret of a key vault")


SPECIAL: Mapping[str, Callable[[tuple[Expression, ...], Scope], Any]] = {
    "and": lambda arguments, scope: all(evaluated(each, scope) for each in arguments),
    "coalesce": first_known,
    "copyindex": place_in_loop,
    "if": choice,
    "lambda": function_of,
    "lambdavariables": lambda_variable,
    "or": lambda arguments, scope: any(evaluated(each, scope) for each in arguments),
    "parameters": parameter,
    "reference": reference,
    "references": reference,
    "variables": variable,
}
"""Functions that do not work out all their arguments, or that look at the template."""
