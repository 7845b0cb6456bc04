"""Start and stop the Lambda host as one object, send to its queues, inspect them, and wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from recoverable_local.decisions import facts_file
from recoverable_local.lambda_host.journal import FunctionLog, Journal, Observer
from recoverable_local.lambda_host.local_queue import LocalQueue
from recoverable_local.lambda_host.sam.created import Created, CreatedQueue, CreatedTable, CreatedTopic
from recoverable_local.lambda_host.sam.stack import Stack
from recoverable_local.lambda_host.sam.template import Template
from recoverable_local.lambda_host.services.broker import embedded_broker
from recoverable_local.lambda_host.services.dynamodb import ENDPOINT_VARIABLE, DynamoDb
from recoverable_local.lambda_host.services.resources import create_queues, create_tables
from recoverable_local.lambda_host.services.sns import ENDPOINT_VARIABLE as SNS_VARIABLE
from recoverable_local.lambda_host.services.sns import Sns
from recoverable_local.lambda_host.services.sqs import Sqs
from recoverable_local.lambda_host.serving import ServingContext, serving
from recoverable_local.lambda_host.settings import Settings
from recoverable_local.reaching import check_url


class LocalAws:
    """Runs the functions of a SAM template on an SQS endpoint while its context is entered.

    When the context is left, queues, tables and topics on the embedded server are deleted; those on another endpoint stay, with
    their messages and items.

    Args:
        template: The template's path.
        settings: How to run it.
        observe: Called with each journal entry, in order, from one thread at a time. An exception that it raises is logged.

    Raises:
        TemplateError: The host cannot run the template. Some parts of it are checked only when the context is entered.
        OSError: Entering the context: nothing listens at an endpoint that the settings name.
    """

    template: Template
    """The template as it is written."""

    stack: Stack
    """The parts of the template that run; set when the context is entered."""

    endpoint_url: str
    """The URL of the SQS endpoint; set when the context is entered."""

    def __init__(
        self, template: str | Path, settings: Settings | None = None, *, observe: Observer | None = None
    ) -> None:
        self.settings = settings or Settings()
        self.template = Template.from_file(
            Path(template),
            parameters=self.settings.parameters,
            region=self.settings.region,
            stack_name=self.settings.stack_name,
        )
        self.template.refuse_missing(self.settings.environment)
        self._journal = Journal(FunctionLog, observe)
        self._queues: Mapping[str, LocalQueue] = {}
        self._cleanup = ExitStack()

    @classmethod
    def from_template(cls, template: str | Path, *, observe: Observer | None = None, **settings: Any) -> Self:
        """Create a host, with the fields of `Settings` as keyword arguments."""
        return cls(template, Settings(**settings), observe=observe)

    def __enter__(self) -> Self:
        """Create queues, tables and topics, and start polling the queues and running the schedules."""
        with ExitStack() as cleanup:
            self._start(cleanup)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Kill every instance, end every thread and close every port."""
        self._cleanup.close()

    def _start(self, cleanup: ExitStack) -> None:
        given = self.settings.endpoint_url
        for setting, url in {"--endpoint-url": given, **self._endpoints_of_services()}.items():
            if url is not None:
                check_url(setting, url)
        self.endpoint_url = given or cleanup.enter_context(embedded_broker(self.settings.port))
        sqs = Sqs(self.endpoint_url, region=self.settings.region)
        cleanup.callback(sqs.close)
        sns = Sns(self.settings.environment.get(SNS_VARIABLE, self.endpoint_url), region=self.settings.region)
        cleanup.callback(sns.close)
        queues = self._create_queues(sqs, cleanup)
        created = Created(queues, self._create_tables(cleanup), self._create_topics(sns, cleanup))
        self._queues = {key: LocalQueue(queue.name, queue.url, queue.arn, sqs) for key, queue in queues.items()}
        self.stack = self.template.stack(created, self.settings.environment)
        for each in self.stack.subscriptions:
            sns.subscribe(each.topic, each.queue, each.attributes)
        facts = cleanup.enter_context(facts_file(self._journal))
        cleanup.enter_context(serving(self.stack, ServingContext(sqs, queues, self._journal, facts, self.settings)))

    def _endpoints_of_services(self) -> Mapping[str, str]:
        """Return the endpoints that `--env` names for single services, by the variable."""
        named = self.settings.environment
        return {f"--env {name}": named[name] for name in (ENDPOINT_VARIABLE, SNS_VARIABLE) if name in named}

    def _create_queues(self, sqs: Sqs, cleanup: ExitStack) -> Mapping[str, CreatedQueue]:
        created = create_queues(sqs, self.template.queues())
        if self.settings.endpoint_url is None:
            for queue in created.values():
                cleanup.callback(sqs.delete_queue, queue.url)
        return created

    def _create_tables(self, cleanup: ExitStack) -> Mapping[str, CreatedTable]:
        """Create the tables on the endpoint that the functions use. A template without tables needs no DynamoDB."""
        if not (tables := self.template.tables()):
            return {}
        endpoint_url = self.settings.environment.get(ENDPOINT_VARIABLE, self.endpoint_url)
        dynamodb = DynamoDb(endpoint_url, region=self.settings.region)
        cleanup.callback(dynamodb.close)
        created = create_tables(dynamodb, tables)
        if self.settings.endpoint_url is None and endpoint_url == self.endpoint_url:
            for table in created.values():
                cleanup.callback(dynamodb.delete_table, table.name)
        return created

    def _create_topics(self, sns: Sns, cleanup: ExitStack) -> Mapping[str, CreatedTopic]:
        created = {
            topic.logical_id: CreatedTopic(topic.name, sns.create(topic.name, topic.attributes))
            for topic in self.template.topics()
        }
        if self.settings.endpoint_url is None and sns.endpoint_url == self.endpoint_url:
            for topic in created.values():
                cleanup.callback(sns.delete_topic, topic.arn)
        return created

    @property
    def queues(self) -> tuple[LocalQueue, ...]:
        """Return the template's queues; none before the context is entered."""
        return tuple(self._queues.values())

    @property
    def function_log(self) -> tuple[FunctionLog, ...]:
        """Return the latest 10,000 lines that functions wrote. Functions that run in process write to the terminal instead."""
        return self._journal.lines

    def queue(self, name: str) -> LocalQueue:
        """Find a queue by its name, with or without the stack name as prefix, or by its logical id in the template.

        Raises:
            KeyError: A name that no queue has.
        """
        for logical_id, queue in self._queues.items():
            if name in {queue.name, queue.name.removeprefix(f"{self.settings.stack_name}-"), logical_id}:
                return queue
        existing = ", ".join(queue.name for queue in self.queues) or "none, because its context is not entered yet"
        raise KeyError(f"There is no queue {name!r}. The host has {existing}.")

    def send(self, queue: str, body: Any, **options: Any) -> str:
        """Send one message to a queue, and return its id. `LocalQueue.send` describes the arguments."""
        return self.queue(queue).send(body, **options)

    def run_until(self, condition: Callable[[], bool], *, deadline: timedelta) -> None:
        """Wait until a condition holds, while the functions run.

        Args:
            condition: Checked after each journal entry and at least every 200 ms.
            deadline: The longest wait.

        Raises:
            TimeoutError: The condition does not hold at the deadline. The message has the queues' depths and the latest log lines.
        """
        self._journal.wait_until(condition, deadline=deadline, state=self._depths)

    def _depths(self) -> str:
        return "Queues:\n" + "".join(f"  {queue.name}: {queue.depth()}\n" for queue in self.queues)
