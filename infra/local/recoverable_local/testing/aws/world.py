"""Offer `SqsWorld`: SQS and Lambda in one process and in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Unpack, cast

from recoverable._sqs.clients import RenewingClient
from recoverable_local.testing.aws.api.sns_client import ON_TOPICS, TopicClient
from recoverable_local.testing.aws.api.sqs_client import OPERATIONS, Client
from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.stored import Stored
from recoverable_local.testing.aws.broker.topics import Topics
from recoverable_local.testing.aws.entities import EntityWorld
from recoverable_local.testing.aws.fault_points import STEPS, possible_faults
from recoverable_local.testing.aws.functions.function import (
    Clients,
    Function,
    Handler,
    LambdaSharedState,
    RecursiveLoop,
)
from recoverable_local.testing.aws.functions.mapping import EventSourceMapping, MappingSettings
from recoverable_local.testing.aws.functions.schedule import Schedule
from recoverable_local.testing.aws.seen_message import to_seen_message
from recoverable_local.testing.aws.sending import Value, to_request
from recoverable_local.testing.aws.serving import (
    check_handler,
    check_settings,
    check_timeout,
    check_visibility,
    make_queues,
)
from recoverable_local.testing.engine.connection import Connection
from recoverable_local.testing.engine.invocation import current_invocation
from recoverable_local.testing.engine.redriving import RATE, Options, Redriven, WorldClock, redrive
from recoverable_local.testing.engine.virtual import START, Duration, seconds_of
from recoverable_operate.errors import SqsErrorQueue, Stop

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

FORGOTTEN_AFTER = 60.0
"""Seconds after which an idle connection is gone: half the time after which SQS was seen to close one."""


class SqsWorld(EntityWorld):
    """SQS and Lambda in one process and in virtual time: hours pass in milliseconds, and each run is the same.

    Args:
        seed: draws message ids and, unless None, the order in which standard queues hand out what is visible.
        start: when the world's time begins.
        create_missing: True if queues are made when they are first served or sent to; False to see what happens when one is missing.
        most_invocations: how many invocations one `run` may take before it is called endless.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        start: datetime = START,
        create_missing: bool = True,
        most_invocations: int = 10_000,
    ) -> None:
        start = start.astimezone(UTC)
        super().__init__(
            start=start, most_invocations=most_invocations, fault_points=(*OPERATIONS, *ON_TOPICS, *STEPS),
            possible_faults=possible_faults,
        )  # fmt: skip
        self._create_missing, journal = create_missing, self._journal
        self._broker = Broker(start, self._seconds, journal.note, next_hop, seed=seed, create_missing=create_missing)
        self._topics = Topics(self._broker, create_missing=create_missing)
        common = self._fault_plan, journal, lambda seconds: self.run(for_=seconds), lambda: self.now

        def connect(clock: Callable[[], float]) -> Clients:
            """Return clients with connections of their own."""
            return Clients(
                Client(self._broker, *common, Connection(clock, FORGOTTEN_AFTER)),
                TopicClient(self._topics, *common, Connection(clock, FORGOTTEN_AFTER)),
            )

        def connect_process() -> Clients:
            """Return the clients of a new process, called as the package calls its own."""
            return Clients(*(RenewingClient(client, clock=self._seconds) for client in connect(self._seconds)))

        self._shared_state = LambdaSharedState(
            start, self._scheduler, self._fault_plan, journal, self._invocations, connect=connect_process,
            expire=self._expire,
        )  # fmt: skip
        client, self.topic_client = connect(lambda: 0.0)
        self.client = cast("SQSClient", client)

    def serve(
        self,
        queue: str,
        handler: Handler,
        *,
        batch_size: int = 10,
        window: Duration = 0,
        concurrency: int = 10,
        timeout: Duration = 30,
        partial_responses: bool = True,
        recursive_loop: RecursiveLoop = "Terminate",
        error_queue: str | None = None,
        managed_instances: bool = False,
    ) -> None:
        """Connect a queue to a Lambda handler by an event source mapping.

        Queues that are missing are made as our SAM template has them: the queue with six times the function's time-out as its
        visibility timeout, and the error queue of the handler's `SqsEndpoint` as its dead-letter queue.

        Args:
            queue: the queue's name.
            handler: what Lambda calls with event and context, as your module has it.
            batch_size: the most messages of one invocation, 1 to 10,000.
            window: how long to wait for a batch to fill, up to 5 minutes.
            concurrency: the most invocations at a time, 1 to 1,000.
            timeout: when the function is killed, up to 15 minutes.
            partial_responses: whether the mapping has ReportBatchItemFailures.
            recursive_loop: what Lambda does about a message that came through the function 16 times; its default is "Terminate".
            error_queue: the dead-letter queue, where the handler is no endpoint but calls one; that of the endpoint if not given.
            managed_instances: whether it runs on Lambda Managed Instances: no function is killed, its time-out may be 90 minutes, and an
                answer that comes later counts for nothing. Set `AWS_LAMBDA_MAX_CONCURRENCY` before you make the endpoint, as Lambda does.

        Raises:
            TypeError: the handler cannot be called.
            ValueError: Lambda would refuse one of these, or a queue has a name that SQS does not take.
            LookupError: the queue is missing, and is not to be made.
        """
        check_handler(handler)
        settings = MappingSettings(
            batch_size=batch_size,
            window=seconds_of(window),
            concurrency=concurrency,
            partial_responses=partial_responses,
            recursive_loop=recursive_loop,
        )
        check_settings(settings, seconds_of(timeout), fifo=queue.endswith(".fifo"), managed_instances=managed_instances)
        if self._create_missing:
            make_queues(self._broker, queue, handler, seconds_of(timeout), error_queue)
        function = self._function(handler, timeout, enforced=not managed_instances)
        source = self._existing(queue)
        check_visibility(source.settings, seconds_of(timeout))
        EventSourceMapping(source, function, settings, self._broker, self._shared_state).plan()

    def serve_schedule(self, handler: Handler, *, every: Duration, timeout: Duration = 30) -> None:
        """Call a Lambda handler at each interval, such as the `Dispatcher` of timeouts; the first time when one interval has passed.

        A schedule never ends, so time does not advance for it alone: let time pass with `run(for_=...)`.

        Args:
            handler: what Lambda calls with event and context, as your module has it.
            every: the time between the starts of two invocations.
            timeout: when the function is killed, up to 15 minutes.

        Raises:
            TypeError: the handler cannot be called with event and context.
            ValueError: no time between two invocations, or a time-out that Lambda would refuse.
        """
        check_handler(handler)
        check_timeout(seconds_of(timeout))
        if seconds_of(every) <= 0:
            raise ValueError("serve_schedule(every) is 0 s; write more, such as timedelta(minutes=1)")
        Schedule(self._function(handler, timeout), seconds_of(every), self._shared_state).plan()

    def _function(self, handler: Handler, timeout: Duration, *, enforced: bool = True) -> Function:
        name = getattr(handler, "__name__", None) or type(handler).__name__
        seconds = seconds_of(timeout)
        return Function(handler, name, timeout=seconds, shared_state=self._shared_state, enforced=enforced)

    def send(
        self,
        queue: str,
        body: object,
        *,
        attributes: Mapping[str, Value] | None = None,
        delay: Duration | None = None,
        group_id: str | None = None,
        deduplication_id: str | None = None,
    ) -> str:
        """Send a message, and return its id.

        Args:
            queue: the queue's name.
            body: a text as it is, anything else as JSON.
            attributes: the sender's own: texts, numbers and bytes.
            delay: for how long it is hidden, up to 15 minutes, in whole seconds.
            group_id: its message group; a FIFO queue needs one.
            deduplication_id: what a FIFO queue tells duplicates by.

        Raises:
            botocore.exceptions.ClientError: SQS would refuse it.
            TypeError: JSON cannot say the body.
        """
        message = to_request(body, attributes, None if delay is None else seconds_of(delay), group_id, deduplication_id)
        return self.client.send_message(QueueUrl=queue, **message)["MessageId"]

    def redrive(self, error_queue: str, **options: Unpack[Options]) -> Redriven:
        """Send messages of an error queue back to where they failed, by the code of `recoverable errors retry`.

        Handlers run meanwhile, as time passes between two sends. Run the world afterwards to see what becomes of them.

        Args:
            error_queue: the queue's name.
            options: see `recoverable_local.testing.engine.redriving.Options`.

        Raises:
            LookupError: no queue of that name was ever made.
            recoverable_operate.errors.OperateError: the command would refuse.
        """
        url = self._existing(error_queue).settings.url
        clock, stop, rate = WorldClock(lambda: self.now, self.run), Stop(), options.get("rate", RATE)
        queue = SqsErrorQueue(self.client, url, sender_for=lambda _: self.client, clock=clock, stop=stop, rate=rate)
        return redrive(queue, clock, stop, options)

    def _expire(self, queue: str, messages: Sequence[Stored]) -> None:
        source = self._existing(queue)
        for message in messages:
            if message.id in source.messages and message.in_flight(self._seconds()):
                self._broker.show(source, message, self._seconds())

    def _headers(self, broker_id: str) -> Mapping[str, str]:
        queue, message = self._broker.all[broker_id]
        return to_seen_message(message, queue.settings, self._start).headers


def next_hop() -> int:
    """Return how many invocations the lineage of a message has gone through that is sent now."""
    invocation = current_invocation.get()
    return invocation.hops + 1 if invocation else 0
