"""Resolve references to queues, tables and topics once they exist, from the names, URLs and ARNs that their servers gave them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from recoverable_local.lambda_host.sam.resources.functions import FUNCTION, LAYER
from recoverable_local.lambda_host.sam.resources.plain import PLAIN_FUNCTION, PLAIN_LAYER
from recoverable_operate.templates import ACCOUNT, Properties, Scope, TemplateError


@dataclass(frozen=True, slots=True)
class CreatedQueue:
    """The name, URL and ARN of a queue on the broker."""

    name: str
    url: str
    arn: str


@dataclass(frozen=True, slots=True)
class CreatedTable:
    """The name and ARN of a table on the server."""

    name: str
    arn: str


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """The name and ARN of a topic on the server."""

    name: str
    arn: str


@dataclass(frozen=True, slots=True)
class Created:
    """The created queues, tables and topics, each by its logical id."""

    queues: Mapping[str, CreatedQueue]
    tables: Mapping[str, CreatedTable] = field(default_factory=dict)
    topics: Mapping[str, CreatedTopic] = field(default_factory=dict)


def with_created_resources(scope: Scope, created: Created) -> Scope:
    """Return the scope with the values of `Ref` and `Fn::GetAtt` for what was created."""
    arns = [each.arn for kind in (created.queues, created.tables, created.topics) for each in kind.values()]
    account = arns[0].split(":")[4] if arns else ACCOUNT
    attributes = {
        key: {"Ref": queue.url, "Arn": queue.arn, "QueueName": queue.name, "QueueUrl": queue.url}
        for key, queue in created.queues.items()
    }
    attributes |= {key: {"Ref": table.name, "Arn": table.arn} for key, table in created.tables.items()}
    attributes |= {
        key: {"Ref": topic.arn, "TopicArn": topic.arn, "TopicName": topic.name} for key, topic in created.topics.items()
    }
    resolved = replace(scope, parameters={**scope.parameters, "AWS::AccountId": account}, attributes=attributes)
    return replace(resolved, attributes=attributes | _layers(scope) | function_names(resolved))


def _layers(scope: Scope) -> dict[str, dict[str, str]]:
    """Resolve a `Ref` to a layer to its logical id, by which its folder is found."""
    return {
        key: {"Ref": key} for key, resource in scope.resources.items() if resource.get("Type") in {LAYER, PLAIN_LAYER}
    }


def function_names(scope: Scope) -> dict[str, dict[str, str]]:
    """Return the values of `Ref` and `Arn` of each function, its name and ARN, unless the name is only known in AWS."""
    region, account = scope.parameters["AWS::Region"], scope.parameters["AWS::AccountId"]
    names: dict[str, str] = {}
    for key, resource in scope.resources.items():
        if resource.get("Type") in {FUNCTION, PLAIN_FUNCTION}:
            with suppress(TemplateError):  # raised again where another resource refers to this function
                own = Properties(key, resource.get("Properties") or {}, scope)
                names[key] = own.text("FunctionName", key)
    return {
        key: {"Ref": name, "Arn": f"arn:aws:lambda:{region}:{account}:function:{name}"} for key, name in names.items()
    }
