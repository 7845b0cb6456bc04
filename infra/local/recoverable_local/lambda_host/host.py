"""The local host: a template on a broker, started and stopped as one, with the queues at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from recoverable_local.lambda_host.journal import FunctionLog, Journal, Observer
from recoverable_local.lambda_host.local_queue import LocalQueue
from recoverable_local.lambda_host.sam.created import CreatedQueue, CreatedTable
from recoverable_local.lambda_host.sam.stack import Stack
from recoverable_local.lambda_host.sam.template import Template
from recoverable_local.lambda_host.services.broker import embedded_broker
from recoverable_local.lambda_host.services.dynamodb import ENDPOINT_VARIABLE, DynamoDb
from recoverable_local.lambda_host.services.resources import create_queues, create_tables
from recoverable_local.lambda_host.services.sqs import Sqs
from recoverable_local.lambda_host.serving import Place, serving
from recoverable_local.lambda_host.settings import Settings


class LocalAws:
    """Runs the functions of a SAM template on an SQS endpoint, from entering it as a context to leaving it.

    Queues and tables on the embedded server go with it; those on another endpoint stay, with what they hold.

    Args:
        template: The template's path.
        settings: How it is run.
        observe: Called with each journal entry, in order, from one thread at a time. What it raises is logged.

    Raises:
        TemplateError: The template cannot be followed; some of it is only looked at on entering.
    """

    stack: Stack
    """What of the template is run; known once entered."""

    endpoint_url: str
    """Where SQS is served; known once entered."""

    def __init__(
        self, template: str | Path, settings: Settings | None = None, *, observe: Observer | None = None
    ) -> None:
        self.settings = settings or Settings()
        self._template = Template.read(
            Path(template),
            parameters=self.settings.parameters,
            region=self.settings.region,
            stack_name=self.settings.stack_name,
        )
        self._journal = Journal(FunctionLog, observe)
        self._queues: Mapping[str, LocalQueue] = {}
        self._cleanup = ExitStack()

    @classmethod
    def from_template(cls, template: str | Path, *, observe: Observer | None = None, **settings: Any) -> Self:
        """The same, with the settings as keywords."""
        return cls(template, Settings(**settings), observe=observe)

    def __enter__(self) -> Self:
        """Create queues and tables, start to read the queues and to follow the schedules."""
        with ExitStack() as cleanup:
            self._start(cleanup)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Kill every instance, end every thread and close every port."""
        self._cleanup.close()

    def _start(self, cleanup: ExitStack) -> None:
        given = self.settings.endpoint_url
        self.endpoint_url = given or cleanup.enter_context(embedded_broker(self.settings.port))
        sqs = Sqs(self.endpoint_url, region=self.settings.region)
        cleanup.callback(sqs.close)
        created, tables = self._create_queues(sqs, cleanup), self._create_tables(cleanup)
        self._queues = {key: LocalQueue(queue.name, queue.url, queue.arn, sqs) for key, queue in created.items()}
        self.stack = self._template.stack(created, self.settings.environment, tables=tables)
        cleanup.enter_context(serving(self.stack, Place(sqs, created, self._journal, self.settings)))

    def _create_queues(self, sqs: Sqs, cleanup: ExitStack) -> Mapping[str, CreatedQueue]:
        queues, visibility = self._template.queues(), self.settings.visibility_timeout
        created = create_queues(sqs, queues, visibility_timeout=visibility)
        if self.settings.endpoint_url is None:
            for queue in created.values():
                cleanup.callback(sqs.drop, queue.url)
        return created

    def _create_tables(self, cleanup: ExitStack) -> Mapping[str, CreatedTable]:
        """Create the tables where the functions look for them; a template without any needs no DynamoDB."""
        if not (tables := self._template.tables()):
            return {}
        endpoint_url = self.settings.environment.get(ENDPOINT_VARIABLE, self.endpoint_url)
        dynamodb = DynamoDb(endpoint_url, region=self.settings.region)
        cleanup.callback(dynamodb.close)
        created = create_tables(dynamodb, tables)
        if self.settings.endpoint_url is None and endpoint_url == self.endpoint_url:
            for table in created.values():
                cleanup.callback(dynamodb.drop, table.name)
        return created

    @property
    def queues(self) -> tuple[LocalQueue, ...]:
        """The template's queues."""
        return tuple(self._queues.values())

    @property
    def function_log(self) -> tuple[FunctionLog, ...]:
        """The latest 10,000 lines that functions wrote; those of functions run in process go to the terminal instead."""
        return self._journal.lines

    def queue(self, name: str) -> LocalQueue:
        """A queue by its name, with or without the stack's name before it, or by its logical id in the template.

        Raises:
            KeyError: There is no such queue.
        """
        for logical_id, queue in self._queues.items():
            if name in {queue.name, queue.name.removeprefix(f"{self.settings.stack_name}-"), logical_id}:
                return queue
        known = ", ".join(queue.name for queue in self.queues) or "none, since it is not entered yet"
        raise KeyError(f"There is no queue {name!r}; the host has {known}.")

    def send(self, queue: str, body: Any, **options: Any) -> str:
        """Send one message to a queue; what the arguments mean stands at `LocalQueue.send`."""
        return self.queue(queue).send(body, **options)

    def run_until(self, condition: Callable[[], bool], *, deadline: timedelta) -> None:
        """Wait while the functions run, until a condition holds.

        Args:
            condition: Looked at after each journal entry and at least every 50 ms.
            deadline: The longest wait.

        Raises:
            TimeoutError: The condition does not hold at the deadline; the message has the queues' depths and the latest log lines.
        """
        self._journal.wait_until(condition, deadline=deadline, state=self._depths)

    def _depths(self) -> str:
        return "Queues:\n" + "".join(f"  {queue.name}: {queue.depth()}\n" for queue in self.queues)
