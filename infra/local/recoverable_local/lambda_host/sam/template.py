"""Read a SAM template's file and parse it into a Stack, in two steps as in CloudFormation.

First come the queues and tables. Once they are created, their URLs and ARNs are known. Then come the functions, which refer to
them, and the mappings and schedules that invoke the functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recoverable_local.lambda_host.sam.created import (
    PLACEHOLDER_ACCOUNT,
    CreatedQueue,
    CreatedTable,
    with_created_resources,
)
from recoverable_local.lambda_host.sam.document import TemplateError, loops_of, parse_document, resources_of, section
from recoverable_local.lambda_host.sam.intrinsics import Scope, holds
from recoverable_local.lambda_host.sam.parameters import parse_parameters
from recoverable_local.lambda_host.sam.properties import Properties
from recoverable_local.lambda_host.sam.resources.events import events_of
from recoverable_local.lambda_host.sam.resources.functions import FUNCTION, parse_function, with_globals
from recoverable_local.lambda_host.sam.resources.mappings import parse_mapping
from recoverable_local.lambda_host.sam.resources.queues import parse_queue, queue_name
from recoverable_local.lambda_host.sam.resources.schedules import parse_schedule
from recoverable_local.lambda_host.sam.resources.tables import TABLE, parse_table
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Queue, Schedule, Stack, Table

QUEUE = "AWS::SQS::Queue"


@dataclass(frozen=True, slots=True)
class Template:
    """A template with the values of its parameters."""

    path: Path
    document: Mapping[str, Any]
    scope: Scope

    @classmethod
    def from_file(cls, path: Path, *, parameters: Mapping[str, str], region: str, stack_name: str) -> Template:
        """Read a template's file.

        Args:
            path: The file.
            parameters: Values for its `Parameters`; those not given get their defaults.
            region: The value of `AWS::Region`.
            stack_name: The value of `AWS::StackName`.

        Raises:
            TemplateError: There is no such file, it is no template, or a parameter does not exist or has no value.
        """
        if not path.is_file():
            raise TemplateError(f"There is no template {str(path)!r}; give its path with --template.")
        document = parse_document(path.read_text(encoding="utf-8"))
        scope = Scope(
            parameters={**_pseudo(region, stack_name), **parse_parameters(section(document, "Parameters"), parameters)},
            mappings=section(document, "Mappings"),
            conditions=section(document, "Conditions"),
            resources=resources_of(document),
            attributes={},
        )
        return cls(path, document, scope)

    def queues(self) -> tuple[Queue, ...]:
        """Parse the queues to create.

        Raises:
            TemplateError: One of them is invalid.
        """
        scope = replace(self.scope, attributes=self._names())
        return tuple(parse_queue(queue) for queue in self._resources(QUEUE, scope))

    def tables(self) -> tuple[Table, ...]:
        """Parse the tables to create.

        Raises:
            TemplateError: One of them is invalid.
        """
        return tuple(parse_table(table) for table in self._resources(TABLE, self.scope))

    def stack(
        self, created: Mapping[str, CreatedQueue], environment: Mapping[str, str], *, tables: Mapping[str, CreatedTable]
    ) -> Stack:
        """Parse everything that runs.

        Args:
            created: The created queues, by logical id.
            environment: Variables for every function, over those of the template.
            tables: The created tables, by logical id.

        Raises:
            TemplateError: A function, a mapping or a schedule is invalid.
        """
        queues, notes = self.queues(), list(self._unsupported())
        functions: list[Function] = []
        mappings: list[EventSourceMapping] = []
        schedules: list[Schedule] = []
        for properties in self._functions(with_created_resources(self.scope, created, tables)):
            events = events_of(properties)
            notes.extend(events.notes)
            if not events.queues and not events.schedules:
                continue
            function, left_out = parse_function(properties, root=self.path.parent, environment=environment)
            functions.append(function)
            notes.extend(left_out)
            mappings += [parse_mapping(event, function=function, queues=queues) for event in events.queues]
            schedules += [parse_schedule(event, function=function) for event in events.schedules]
        return Stack(queues, tuple(functions), tuple(mappings), tuple(notes), self.tables(), tuple(schedules))

    def _functions(self, scope: Scope) -> Iterator[Properties]:
        shared = section(section(self.document, "Globals"), "Function")
        for function in self._resources(FUNCTION, scope):
            yield replace(function, values=with_globals(function.values, shared))

    def _resources(self, kind: str, scope: Scope) -> Iterator[Properties]:
        for logical_id, resource in self.scope.resources.items():
            wanted = resource.get("Type") == kind
            if wanted and ("Condition" not in resource or holds(resource["Condition"], self.scope)):
                yield Properties(logical_id, resource.get("Properties") or {}, scope)

    def _names(self) -> dict[str, dict[str, str]]:
        """Return the values by which queues can refer to one another before they are created."""
        region = self.scope.parameters["AWS::Region"]
        names = {queue.where: queue_name(queue) for queue in self._resources(QUEUE, self.scope)}
        return {
            logical_id: {"Arn": f"arn:aws:sqs:{region}:{PLACEHOLDER_ACCOUNT}:{name}", "QueueName": name}
            for logical_id, name in names.items()
        }

    def _unsupported(self) -> Iterator[str]:
        for loop in loops_of(self.document):
            yield f"{loop} is a loop, which is not expanded here; its resources are not run"
        for kind in ("AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"):
            for resource in self._resources(kind, self.scope):
                yield f"{resource.where} is an {kind}, which is not supported; write an {FUNCTION} with an event of Type SQS"


def _pseudo(region: str, stack_name: str) -> dict[str, str]:
    return {
        "AWS::Region": region,
        "AWS::AccountId": PLACEHOLDER_ACCOUNT,
        "AWS::Partition": "aws",
        "AWS::URLSuffix": "amazonaws.com",
        "AWS::StackName": stack_name,
        "AWS::StackId": f"arn:aws:cloudformation:{region}:{PLACEHOLDER_ACCOUNT}:stack/{stack_name}/0",
    }
