"""A SAM template → the frozen Stack; reads one file, creates nothing.

Two steps, as in CloudFormation: queues and tables first, then, when the servers have said what their URLs and ARNs are, the functions
that refer to them, and what invokes those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recoverable_local.lambda_host.sam.created import SOMEWHERE, CreatedQueue, CreatedTable, knowing
from recoverable_local.lambda_host.sam.document import TemplateError, load
from recoverable_local.lambda_host.sam.intrinsics import Scope, holds
from recoverable_local.lambda_host.sam.parameters import read_parameters
from recoverable_local.lambda_host.sam.properties import Properties
from recoverable_local.lambda_host.sam.resources.events import events_of
from recoverable_local.lambda_host.sam.resources.functions import FUNCTION, read_function, with_globals
from recoverable_local.lambda_host.sam.resources.mappings import read_mapping
from recoverable_local.lambda_host.sam.resources.queues import queue_name, read_queue
from recoverable_local.lambda_host.sam.resources.schedules import read_schedule
from recoverable_local.lambda_host.sam.resources.tables import TABLE, read_table
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Queue, Schedule, Stack, Table

QUEUE = "AWS::SQS::Queue"


@dataclass(frozen=True, slots=True)
class Template:
    """A template with its parameters filled in."""

    path: Path
    document: Mapping[str, Any]
    scope: Scope

    @classmethod
    def read(cls, path: Path, *, parameters: Mapping[str, str], region: str, stack_name: str) -> Template:
        """Read a template's file.

        Args:
            path: The file.
            parameters: Values for its `Parameters`; those not given have their defaults.
            region: What `AWS::Region` is.
            stack_name: What `AWS::StackName` is.

        Raises:
            TemplateError: There is no such file, it is no template, or a parameter does not exist or has no value.
        """
        if not path.is_file():
            raise TemplateError(f"There is no template {str(path)!r}; give its path with --template.")
        document = load(path.read_text(encoding="utf-8"))
        scope = Scope(
            parameters={**_pseudo(region, stack_name), **read_parameters(document.get("Parameters") or {}, parameters)},
            mappings=document.get("Mappings") or {},
            conditions=document.get("Conditions") or {},
            resources=document.get("Resources") or {},
            attributes={},
        )
        return cls(path, document, scope)

    def queues(self) -> tuple[Queue, ...]:
        """The queues to create.

        Raises:
            TemplateError: One of them cannot be read.
        """
        scope = replace(self.scope, attributes=self._names())
        return tuple(read_queue(queue) for queue in self._resources(QUEUE, scope))

    def tables(self) -> tuple[Table, ...]:
        """The tables to create.

        Raises:
            TemplateError: One of them cannot be read.
        """
        return tuple(read_table(table) for table in self._resources(TABLE, self.scope))

    def stack(
        self, created: Mapping[str, CreatedQueue], environment: Mapping[str, str], *, tables: Mapping[str, CreatedTable]
    ) -> Stack:
        """Everything to run.

        Args:
            created: What the broker calls the queues, by logical id.
            environment: Variables for every function, over those of the template.
            tables: What their server calls the tables, by logical id.

        Raises:
            TemplateError: A function, or what invokes it, cannot be read.
        """
        queues, notes = self.queues(), list(self._unread())
        functions: list[Function] = []
        mappings: list[EventSourceMapping] = []
        schedules: list[Schedule] = []
        for properties in self._functions(knowing(self.scope, created, tables)):
            events = events_of(properties)
            notes.extend(events.notes)
            if not events.queues and not events.schedules:
                continue
            function, left_out = read_function(properties, root=self.path.parent, environment=environment)
            functions.append(function)
            notes.extend(left_out)
            mappings += [read_mapping(event, function=function, queues=queues) for event in events.queues]
            schedules += [read_schedule(event, function=function) for event in events.schedules]
        return Stack(queues, tuple(functions), tuple(mappings), tuple(notes), self.tables(), tuple(schedules))

    def _functions(self, scope: Scope) -> Iterator[Properties]:
        shared = (self.document.get("Globals") or {}).get("Function") or {}
        for function in self._resources(FUNCTION, scope):
            yield replace(function, values=with_globals(function.values, shared))

    def _resources(self, kind: str, scope: Scope) -> Iterator[Properties]:
        for logical_id, resource in self.scope.resources.items():
            wanted = resource.get("Type") == kind
            if wanted and ("Condition" not in resource or holds(resource["Condition"], self.scope)):
                yield Properties(logical_id, resource.get("Properties") or {}, scope)

    def _names(self) -> dict[str, dict[str, str]]:
        """What queues can say of one another before they are created."""
        region = self.scope.parameters["AWS::Region"]
        names = {queue.where: queue_name(queue) for queue in self._resources(QUEUE, self.scope)}
        return {
            logical_id: {"Arn": f"arn:aws:sqs:{region}:{SOMEWHERE}:{name}", "QueueName": name}
            for logical_id, name in names.items()
        }

    def _unread(self) -> Iterator[str]:
        for kind in ("AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"):
            for resource in self._resources(kind, self.scope):
                yield f"{resource.where} is an {kind}, which is not read; write an {FUNCTION} with an event of Type SQS"


def _pseudo(region: str, stack_name: str) -> dict[str, str]:
    return {
        "AWS::Region": region,
        "AWS::AccountId": SOMEWHERE,
        "AWS::Partition": "aws",
        "AWS::URLSuffix": "amazonaws.com",
        "AWS::StackName": stack_name,
        "AWS::StackId": f"arn:aws:cloudformation:{region}:{SOMEWHERE}:stack/{stack_name}/0",
    }
