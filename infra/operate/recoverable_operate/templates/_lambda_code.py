"""Say of a Lambda function in a template whether its code uses this package, and what it says of its endpoint."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recoverable_operate.rules._endpoint import Endpoint
from recoverable_operate.rules._ladder import PREFIX
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import TemplateError, maybe, section
from recoverable_operate.templates._endpoints import SQS_ENDPOINTS, calls_in, described, reachable
from recoverable_operate.templates._expressions import Made, Reader, Scope
from recoverable_operate.templates._properties import FUNCTIONS, Properties, listed
from recoverable_operate.templates._sources import Sources, sources_at
from recoverable_operate.templates._stacks import ours

SAM, _ = FUNCTIONS

WRAPPER = "AWS_LAMBDA_EXEC_WRAPPER"
"""The variable by which an extension starts the function ("Modifying the runtime environment", Lambda)."""

Variables = Mapping[str, str | Unknown] | Unknown


@dataclass(frozen=True, slots=True)
class LambdaCode:
    """The code of a function.

    Args:
        uses: True if it uses this package, False if it does not.
        endpoint: what it says of its endpoint.
        is_here: True if it could be read.
        missing: the file in which its handler is to be and that is not there; None where it is.
        undefined: the file that does not define its handler, and the handler's name; None where it does.
    """

    uses: bool | Unknown
    endpoint: Endpoint | Unknown
    missing: str | Unknown | None
    is_here: bool = True
    undefined: tuple[str, str] | None = None


def code_of(function: Properties, resource: Mapping[str, Any], variables: Variables, folder: Path) -> LambdaCode:
    """Return the code of a function.

    Args:
        function: its properties, those of `Globals` among them.
        resource: all that the template says of it.
        variables: its environment variables.
        folder: of the template.
    """
    said = ours(resource).get("Uses")
    if said is False or (said is None and is_of_another_language(function)):
        return LambdaCode(uses=False, endpoint=Unknown("it does not use this package"), missing=None)
    found = sources_of(function, resource, folder)
    uses = said if isinstance(said, bool) else uses_of(found, variables, function.where)
    if isinstance(found, Unknown):
        return LambdaCode(uses, found, found, is_here=False)
    handler = maybe(lambda: function.text("Handler", ""))
    if isinstance(handler, Unknown):
        return LambdaCode(uses, handler, handler)
    module, _, name = handler.rpartition(".")
    file = found.file_of(module.replace("/", "."))
    if file is None:
        return LambdaCode(
            uses,
            Unknown(f"the handler of {function.where} is not in {found.name}"),
            missing_file(function, resource, variables, found, module),
        )
    tree = found.trees[file]
    is_defined = isinstance(tree, Unknown) or any(may_define(each, name) for each in ast.walk(tree))
    undefined = None if is_defined else ((Path(found.name) / file).as_posix(), name)
    return LambdaCode(uses, endpoint_of(Reader(found, variables), file, name), None, undefined=undefined)


def may_define(node: ast.AST, name: str) -> bool:
    """True if a statement gives something this name, or something any name."""
    match node:
        case ast.FunctionDef(name=given) | ast.AsyncFunctionDef(name=given) | ast.ClassDef(name=given):
            return given in (name, "__getattr__")
        case ast.Name(id=given, ctx=ast.Store()):
            return given == name
        case ast.alias(name=given, asname=alias):
            return (alias or given.partition(".")[0]) in (name, "*")
        case ast.Name(id="globals" | "setattr" | "exec" | "vars"):
            return True
        case _:
            return False


def is_of_another_language(function: Properties) -> bool:
    """True if the function's runtime is known, and is not Python."""
    runtime = maybe(lambda: function.get("Runtime"))
    return isinstance(runtime, str) and not runtime.startswith("python")


def uses_of(found: Sources | Unknown, variables: Variables, name: str) -> bool | Unknown:
    """Return True if the function's code imports this package, or its variables are of it."""
    if not isinstance(variables, Unknown) and any(each.startswith(PREFIX) for each in variables):
        return True
    uses = found if isinstance(found, Unknown) else found.uses_package()
    if isinstance(uses, Unknown):
        return Unknown(
            f"whether {name} uses this package: {uses.why}; Metadata: {{Recoverable: {{Uses: true}}}}, or false, says it"
        )
    return uses


def sources_of(function: Properties, resource: Mapping[str, Any], folder: Path) -> Sources | Unknown:
    """Return the files of a function."""
    place = maybe(lambda: place_of(function, resource))
    return place if isinstance(place, Unknown) else sources_at(Path(os.path.normpath(folder / place)))


def place_of(function: Properties, resource: Mapping[str, Any]) -> str:
    """Return the path of a function's code, from the template's folder.

    Raises:
        TemplateError: it is not a path here.
    """
    if isinstance(asset := section(resource, "Metadata").get("aws:asset:path"), str):
        return asset
    if function.values.get("InlineCode") is not None:
        raise TemplateError("its code is inline, and not read")
    if function.text("PackageType", "Zip") == "Image" or function.values.get("ImageUri") is not None:
        raise TemplateError("its code is an image, and not read")
    code = function.get("CodeUri", function.get("Code", "." if resource["Type"] == SAM else None))
    if code is None:
        raise TemplateError("the template does not say where its code is")
    if isinstance(code, dict):
        kind = "inline" if "ZipFile" in code else "an image" if "ImageUri" in code else "in S3"
        raise TemplateError(f"its code is {kind}, and not read")
    if not isinstance(code, str) or code.startswith("s3://"):
        raise TemplateError("its code is in S3, and not read")
    return code


def missing_file(
    function: Properties, resource: Mapping[str, Any], variables: Variables, found: Sources, module: str
) -> str | Unknown:
    """Return the file in which a handler is to be; Unknown where something else may bring it, or start another."""
    if maybe(lambda: listed(function.get("Layers"))) or "BuildMethod" in section(resource, "Metadata"):
        return Unknown(f"{module} is not in {found.name}, and a layer or the build may bring it")
    if isinstance(variables, Unknown) or WRAPPER in variables:
        return Unknown(f"{module} is not in {found.name}, and an extension may start another")
    if found.whole is not None:
        return found.whole
    return (Path(found.name) / f"{module.replace('.', '/')}.py").as_posix()


def endpoint_of(reader: Reader, file: str, name: str) -> Endpoint | Unknown:
    """Return the endpoint that a handler is, or that the code of its file makes, if it makes one."""
    tree = reader.sources.trees[file]
    if isinstance(tree, Unknown):
        return tree
    handler = reader.of_name(name, tree, Scope(reader.sources.name, file, tree))
    if isinstance(handler, Made) and handler.name in SQS_ENDPOINTS:
        return described(handler, reader.variables)
    read = list(reachable(reader, file))
    calls = (call for scope in read if isinstance(scope, Scope) for call in calls_in(scope))
    made = [each for call in calls if isinstance(each := reader.value(*call), Made) and each.name in SQS_ENDPOINTS]
    if len(made) == 1:
        return described(made[0], reader.variables)
    unread = next((each for each in read if isinstance(each, Unknown)), None)
    return unread or Unknown(f"{file} makes {'several endpoints' if made else 'no endpoint'} in plain words")
