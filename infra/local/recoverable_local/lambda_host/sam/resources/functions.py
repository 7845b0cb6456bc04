"""Parse `AWS::Serverless::Function`, with `Globals` and layers, into a Function."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from recoverable_local.lambda_host.sam.resources.plain import PLAIN_LAYER, local_folder
from recoverable_local.lambda_host.sam.stack import Function
from recoverable_operate.templates import Properties, TemplateError, as_text

FUNCTION = "AWS::Serverless::Function"
LAYER = "AWS::Serverless::LayerVersion"
_LONGEST_TIMEOUT, _LONGEST_MANAGED_TIMEOUT = 900, 5_400  # seconds; Lambda quotas
_PLAIN_CONFIG = "LambdaManagedInstancesCapacityProviderConfig"
_PROCESSES, _MOST_PROCESSES = (
    4,
    1_600,
)  # where the template says nothing, Lambda has 16 for each vCPU, which is much for one machine


def parse_function(
    properties: Properties, *, root: Path, environment: Mapping[str, str]
) -> tuple[Function, tuple[str, ...]]:
    """Parse one function. Return it with notes on the parts that this host leaves out.

    Args:
        properties: Its properties, those of `Globals` included.
        root: The template's folder, to which `CodeUri` is relative.
        environment: Variables added to those of the template. Where both set one, the template's value is not resolved.

    Raises:
        TemplateError: Its folder does not exist, or a property has a value that Lambda does not accept.
    """
    folders, notes = _layers(properties, root)
    variables = properties.part("Environment").part("Variables")
    logging = properties.part("LoggingConfig")
    function = Function(
        logical_id=properties.where,
        name=properties.text("FunctionName", properties.where),
        code=_folder(properties, "CodeUri", root),
        handler=properties.required("Handler", "orders.handler"),
        runtime=properties.text("Runtime", ""),
        timeout=timeout_of(properties),
        memory=properties.number("MemorySize", 128, minimum=128, maximum=10_240),
        environment={**_variables(variables, given=environment), **environment},
        layers=folders,
        reserved_concurrency=_reserved(properties),
        log_format=logging.text("LogFormat", "Text"),
        log_level=logging.get("ApplicationLogLevel"),
        recursive_loop=properties.text("RecursiveLoop", "Terminate"),  # Lambda's default
        processes=_processes(properties),
    )
    return function, notes


def timeout_of(properties: Properties) -> timedelta:
    """Return how long one invocation of a function may take."""
    longest = _LONGEST_TIMEOUT if _processes(properties) is None else _LONGEST_MANAGED_TIMEOUT
    return timedelta(seconds=properties.number("Timeout", 3, minimum=1, maximum=longest))


def _processes(properties: Properties) -> int | None:
    """Return the processes of one environment of a function on Managed Instances, in SAM's or Lambda's form; None for any other function."""
    if properties.values.get("CapacityProviderConfig") is None:
        return None
    config = properties.part("CapacityProviderConfig")
    own = config.part(_PLAIN_CONFIG) if _PLAIN_CONFIG in config.values else config
    return own.number("PerExecutionEnvironmentMaxConcurrency", _PROCESSES, minimum=1, maximum=_MOST_PROCESSES)


def _variables(variables: Properties, *, given: Mapping[str, str]) -> dict[str, str]:
    wanted = (name for name in variables.values if name not in given)
    values = {name: variables.get(name) for name in wanted}
    return {name: as_text(value) for name, value in values.items() if value is not None}


def _reserved(properties: Properties) -> int | None:
    name = "ReservedConcurrentExecutions"
    return None if properties.get(name) is None else properties.number(name, 0, maximum=1_000_000)


def why_not_run(properties: Properties) -> str | None:
    """Return a note that says why this host cannot run a function; None if it can."""
    runtime, code = properties.text("Runtime", ""), properties.values.get("CodeUri")
    if properties.text("PackageType", "Zip") != "Zip":
        return f"{properties.where} is a container image, and is not run here; in a template for your machine give it CodeUri and Handler"
    if properties.get("InlineCode") is not None or isinstance(code, dict) or str(code).startswith("s3://"):
        return f"{properties.where} has its code not in a folder, and is not run here; give it CodeUri and Handler"
    if not runtime.startswith("python"):
        return (
            f"{properties.where} has the Runtime {runtime!r}, and is not run here: the local host runs python3.x only"
        )
    return None


def _folder(properties: Properties, name: str, root: Path) -> Path:
    folder = root / properties.required(name, "src/")
    if not folder.is_dir():
        raise TemplateError(
            f"{properties.where}.{name} is {str(folder)!r}, which is no folder; write one relative to the template."
        )
    return folder.resolve()


def _layers(properties: Properties, root: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    folders: list[Path] = []
    notes: list[str] = []
    for layer in properties.get("Layers", []):
        resource = properties.scope.resources.get(layer, {})
        if uri := _content(resource):
            content = Properties(layer, {"ContentUri": uri}, properties.scope)
            folders.append(_import_folder(_folder(content, "ContentUri", root)))
        else:
            notes.append(
                f"{properties.where}: the layer {layer} is not fetched; install what it holds beside recoverable"
            )
    return tuple(reversed(folders)), tuple(notes)


def _content(resource: Mapping[str, Any]) -> Any:
    """Return what names a layer's folder; None if it is no layer of this template, or its folder is not here."""
    match resource.get("Type"):
        case str(kind) if kind == LAYER:
            return (resource.get("Properties") or {}).get("ContentUri")
        case str(kind) if kind == PLAIN_LAYER:
            return local_folder(resource, "Content")
        case _:
            return None


def _import_folder(layer: Path) -> Path:
    """Return the folder of a layer's modules: `python/` in a layer as deployed, the layer itself if it has a BuildMethod."""
    return layer / "python" if (layer / "python").is_dir() else layer
