"""The `aws` command in miniature: names of operations and parameters by botocore's models, calls by botocore; enough for the pages."""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

import botocore.session
import jmespath  # type: ignore[import-untyped]  # botocore's own, ships no types
from botocore import xform_name

OUTPUT_OPTIONS = ("query", "output")
RENAMED = {
    "notification-endpoint": "endpoint"
}  # of `sns subscribe`, where the command's own --endpoint-url would be in the way


class Command(NamedTuple):
    """A command understood: the call to make, and what to show of its answer."""

    service: str
    operation: str
    parameters: dict[str, Any]
    query: str | None


def understood(service: str, name: str, *words: str) -> Command:
    """The command.

    Raises:
        KeyError: AWS's models have no such service, operation or parameter.
    """
    names = [RENAMED.get(word.removeprefix("--"), word.removeprefix("--")) for word in words[::2]]
    options = dict(zip(names, words[1::2], strict=True))
    model = botocore.session.get_session().get_service_model(service)
    operation = {xform_name(each, "-"): each for each in model.operation_names}[name]
    shape = model.operation_model(operation).input_shape
    members = {xform_name(member, "-"): (member, kind) for member, kind in (shape.members if shape else {}).items()}
    shown = {option: options.pop(option) for option in OUTPUT_OPTIONS if option in options}
    parameters = {members[option][0]: value(text, members[option][1]) for option, text in options.items()}
    missing = set(shape.required_members if shape else ()) - parameters.keys()
    if missing:
        raise KeyError(f"aws {service} {name} lacks {missing}")
    return Command(service, operation, parameters, shown.get("query"))


def value(text: str, shape: Any) -> Any:
    """An argument as its model wants it: JSON for structures and maps, a list of one for lists."""
    match shape.type_name:
        case "structure" | "map":
            return json.loads(text)
        case "list":
            return [text]
        case _:
            return text


def made(command: Command) -> Any:
    """The answer to the call, or the part that was asked for."""
    client: Any = botocore.session.get_session().create_client(command.service)
    answer = getattr(client, xform_name(command.operation))(**command.parameters)
    answer.pop("ResponseMetadata", None)
    return jmespath.search(command.query, answer) if command.query else answer


if __name__ == "__main__":
    answer = made(understood(*sys.argv[1:]))
    sys.stdout.write(answer if isinstance(answer, str) else json.dumps(answer))
