"""Read a SAM template's file and parse it into a Stack, in two steps as in CloudFormation.

First come the queues, tables and topics. Once they are created, their URLs and ARNs are known. Then come the subscriptions and the
functions, which refer to them, and the mappings and schedules that invoke the functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from recoverable_local.lambda_host.sam.created import (
    Created,
    CreatedQueue,
    CreatedTable,
    CreatedTopic,
    function_names,
    with_created_resources,
)
from recoverable_local.lambda_host.sam.resources.events import events_of
from recoverable_local.lambda_host.sam.resources.functions import FUNCTION, timeout_of
from recoverable_local.lambda_host.sam.resources.mappings import source_name
from recoverable_local.lambda_host.sam.resources.outside import stand_in_notes, stand_ins
from recoverable_local.lambda_host.sam.resources.plain import (
    PLAIN_FUNCTION,
    PLAIN_MAPPING,
    PLAIN_TRIGGERS,
    as_serverless,
    triggers_of,
)
from recoverable_local.lambda_host.sam.resources.queues import parse_queue, queue_name
from recoverable_local.lambda_host.sam.resources.tables import TABLE, parse_table
from recoverable_local.lambda_host.sam.resources.topics import SUBSCRIPTION, TOPIC, parse_subscriptions, parse_topic
from recoverable_local.lambda_host.sam.running import Candidate, parse_running, refuse_nothing_to_run
from recoverable_local.lambda_host.sam.stack import Queue, Stack, Table, Topic
from recoverable_operate.templates import (
    ACCOUNT,
    MissingValue,
    Properties,
    Scope,
    TemplateError,
    parse_document,
    read_template,
    resources,
    section,
    transform_notes,
    with_globals,
)

QUEUE = "AWS::SQS::Queue"


@dataclass(frozen=True, slots=True)
class Template:
    """A template with the values of its parameters."""

    path: Path
    document: Mapping[str, Any]
    scope: Scope
    notes: tuple[str, ...] = ()

    @classmethod
    def from_file(cls, path: Path, *, parameters: Mapping[str, str], region: str, stack_name: str) -> Template:
        """Read a template's file.

        Args:
            path: The file.
            parameters: Values for its `Parameters`; those not given get their defaults.
            region: The value of `AWS::Region`.
            stack_name: The value of `AWS::StackName`.

        Raises:
            TemplateError: The file is missing or not a template, or a parameter is unknown. One without a value is refused by `refuse_missing`.
        """
        if not path.is_file():
            raise TemplateError(f"There is no template {str(path)!r}; give its path with --template.")
        document = parse_document(path.read_text(encoding="utf-8"))
        read = read_template(document, parameters, region=region, stack_name=stack_name, lenient=True)
        return cls(path, document, read.scope, (*transform_notes(document), *read.notes))

    def refuse_missing(self, environment: Mapping[str, str]) -> None:
        """Refuse the template if what runs needs parameters that have no value here; all of them are named at once.

        Args:
            environment: Variables for every function, over those of the template.

        Raises:
            TemplateError: It does.
        """
        template, missing = self, list[str]()
        while (error := template._missing(environment)) is not None and error.name not in missing:
            missing.append(error.name)
            given = {**template.scope.parameters, error.name: "1"}  # to see what else is missing
            template = replace(template, scope=replace(template.scope, parameters=given))
        if len(missing) > 1:
            options = " ".join(f"--parameter {name}=VALUE" for name in missing)
            raise TemplateError(f"The parameters {', '.join(missing)} have no value here; give them with {options}.")
        if missing:
            raise MissingValue(*missing)

    def _missing(self, environment: Mapping[str, str]) -> MissingValue | None:
        """Return the error about the first parameter without a value that what runs needs; None where there is none, or another error first."""
        try:
            queues, arn = self.queues(), f"arn:aws::{self.scope.parameters['AWS::Region']}:{ACCOUNT}:"
            tables = {each.logical_id: CreatedTable(each.name, arn + each.name) for each in self.tables()}
            topics = {each.logical_id: CreatedTopic(each.name, arn + each.name) for each in self.topics()}
            self.stack(Created(self._planned(queues), tables, topics), environment)
        except TemplateError as error:  # another one is raised where the template is used
            causes: list[BaseException | None] = [error, error.__cause__, error.__context__]
            return next((each for each in causes if isinstance(each, MissingValue)), None)
        return None

    def queues(self) -> tuple[Queue, ...]:
        """Parse the queues to create, and add those that stand in for queues which the template only names.

        Raises:
            TemplateError: One of them is invalid.
        """
        scope = replace(self.scope, attributes=self._names())
        queues = tuple(parse_queue(queue) for queue in self._resources(QUEUE, scope))
        return queues + stand_ins(queues, self._read(queues))

    def tables(self) -> tuple[Table, ...]:
        """Parse the tables to create.

        Raises:
            TemplateError: One of them is invalid.
        """
        return tuple(parse_table(table) for table in self._resources(TABLE, self.scope))

    def topics(self) -> tuple[Topic, ...]:
        """Parse the topics to create.

        Raises:
            TemplateError: One of them is invalid.
        """
        return tuple(parse_topic(topic) for topic in self._resources(TOPIC, self.scope))

    def stack(self, created: Created, environment: Mapping[str, str]) -> Stack:
        """Parse everything that runs.

        Args:
            created: The created queues, tables and topics.
            environment: Variables for every function, over those of the template.

        Raises:
            TemplateError: A function, a mapping or a schedule is invalid.
        """
        queues, scope = self.queues(), with_created_resources(self.scope, created)
        topics, own = self._resources(TOPIC, scope), self._resources(SUBSCRIPTION, scope)
        candidates, (subscriptions, without) = self._candidates(scope), parse_subscriptions(topics, own, created)
        found = [
            parse_running(each, root=self.path.parent, environment=environment, queues=queues) for each in candidates
        ]
        refuse_nothing_to_run(found)
        return Stack(
            queues,
            functions=tuple(one.function for one in found if one.function is not None),
            mappings=tuple(mapping for one in found for mapping in one.mappings),
            schedules=tuple(schedule for one in found for schedule in one.schedules),
            tables=self.tables(),
            subscriptions=subscriptions,
            not_served=(
                *self.notes,
                *without,
                *self._strays(candidates),
                *(note for one in found for note in one.notes),
                *stand_in_notes(queues),
            ),
        )

    def _candidates(self, scope: Scope) -> tuple[Candidate, ...]:
        shared = section(section(self.document, "Globals"), "Function")
        own = [replace(each, values=with_globals(each.values, shared)) for each in self._resources(FUNCTION, scope)]
        own += [as_serverless(scope.resources[each.where], each) for each in self._resources(PLAIN_FUNCTION, scope)]
        names = function_names(scope)
        plain = [(kind, each) for kind in PLAIN_TRIGGERS for each in self._resources(kind, scope)]
        triggers = [trigger for kind, each in plain for trigger in triggers_of(kind, each, names)]
        return tuple(Candidate(each, tuple(one for one in triggers if one.function == each.where)) for each in own)

    def _read(self, queues: tuple[Queue, ...]) -> Iterator[tuple[str, timedelta]]:
        """Yield the name of each queue that a mapping reads, and the time-out of its function."""
        for each in self._candidates(with_created_resources(self.scope, Created(self._planned(queues)))):
            for event in events_of(each.properties, each.triggers).queues:
                yield source_name(event), timeout_of(each.properties)

    def _planned(self, queues: tuple[Queue, ...]) -> dict[str, CreatedQueue]:
        """Return the queues as if they were created."""
        arn = f"arn:aws:sqs:{self.scope.parameters['AWS::Region']}:{ACCOUNT}:"
        return {queue.logical_id: CreatedQueue(queue.name, queue.name, arn + queue.name) for queue in queues}

    def _strays(self, candidates: tuple[Candidate, ...]) -> Iterator[str]:
        """Yield a note on each event source mapping that invokes no function of the template."""
        known = {trigger.event.where for each in candidates for trigger in each.triggers}
        for mapping in self._resources(PLAIN_MAPPING, self.scope):
            if mapping.where not in known:
                yield f"{mapping.where} invokes no function of this template, so nothing here reads its queue"

    def _resources(self, kind: str, scope: Scope) -> Iterator[Properties]:
        yield from (replace(each, scope=scope) for each in resources(self.scope, kind, strict=True))

    def _names(self) -> dict[str, dict[str, str]]:
        """Return the values by which queues can refer to one another before they are created."""
        region = self.scope.parameters["AWS::Region"]
        names = {queue.where: queue_name(queue) for queue in self._resources(QUEUE, self.scope)}
        return {
            logical_id: {"Arn": f"arn:aws:sqs:{region}:{ACCOUNT}:{name}", "QueueName": name}
            for logical_id, name in names.items()
        }
