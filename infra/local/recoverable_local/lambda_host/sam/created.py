"""What servers call the queues and tables that they have created, and what a template can say of its resources from then on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from recoverable_local.lambda_host.sam.document import TemplateError
from recoverable_local.lambda_host.sam.intrinsics import Scope
from recoverable_local.lambda_host.sam.properties import Properties
from recoverable_local.lambda_host.sam.resources.functions import FUNCTION, LAYER

SOMEWHERE = "000000000000"
"""The account of ARNs made up before a server has said its own."""


@dataclass(frozen=True, slots=True)
class CreatedQueue:
    """How the broker calls a queue that it has created."""

    name: str
    url: str
    arn: str


@dataclass(frozen=True, slots=True)
class CreatedTable:
    """How the server calls a table that it has created."""

    name: str
    arn: str


def knowing(scope: Scope, queues: Mapping[str, CreatedQueue], tables: Mapping[str, CreatedTable]) -> Scope:
    """The scope once the servers have said what their queues, tables and account are, by logical id."""
    arns = [*(queue.arn for queue in queues.values()), *(table.arn for table in tables.values())]
    account = arns[0].split(":")[4] if arns else SOMEWHERE
    attributes = {
        key: {"Ref": queue.url, "Arn": queue.arn, "QueueName": queue.name, "QueueUrl": queue.url}
        for key, queue in queues.items()
    }
    attributes |= {key: {"Ref": table.name, "Arn": table.arn} for key, table in tables.items()}
    known = replace(scope, parameters={**scope.parameters, "AWS::AccountId": account}, attributes=attributes)
    return replace(known, attributes=attributes | _layers(scope) | _functions(known))


def _layers(scope: Scope) -> dict[str, dict[str, str]]:
    """Of a layer its logical id, which is enough to find its folder by."""
    return {key: {"Ref": key} for key, resource in scope.resources.items() if resource.get("Type") == LAYER}


def _functions(scope: Scope) -> dict[str, dict[str, str]]:
    """Of a function its name, unless that can only be known in AWS."""
    region, account = scope.parameters["AWS::Region"], scope.parameters["AWS::AccountId"]
    names: dict[str, str] = {}
    for key, resource in scope.resources.items():
        if resource.get("Type") == FUNCTION:
            with suppress(TemplateError):  # who refers to it is told, and nobody else
                own = Properties(key, resource.get("Properties") or {}, scope)
                names[key] = own.text("FunctionName", key)
    return {
        key: {"Ref": name, "Arn": f"arn:aws:lambda:{region}:{account}:function:{name}"} for key, name in names.items()
    }
