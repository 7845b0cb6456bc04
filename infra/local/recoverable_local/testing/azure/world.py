"""Offer `ServiceBusWorld`: Service Bus and Functions in one process and in virtual time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Unpack, cast

from recoverable._service_bus.senders import Broker
from recoverable.headers import texts
from recoverable_local.testing.azure.app import App, functions_of
from recoverable_local.testing.azure.broker.contents import properties_of
from recoverable_local.testing.azure.broker.queues import Queues
from recoverable_local.testing.azure.broker.register import Register
from recoverable_local.testing.azure.entities import EntityWorld
from recoverable_local.testing.azure.fault_points import CALLS, STEPS, possible_faults
from recoverable_local.testing.azure.host.host import Host
from recoverable_local.testing.azure.host.listener import HostSettings
from recoverable_local.testing.azure.sdk.calls import Calls
from recoverable_local.testing.azure.sdk.sending import NAMESPACE, Client
from recoverable_local.testing.azure.serving import Sendable, check_receivable, check_settings, make_queues, to_message
from recoverable_local.testing.engine.invocation import current_invocation
from recoverable_local.testing.engine.redriving import Options, Redriven, WorldClock, redrive
from recoverable_local.testing.engine.shared_state import SharedState
from recoverable_local.testing.engine.virtual import START, Duration, seconds_of
from recoverable_operate.errors import Entity as ErrorEntity
from recoverable_operate.errors import Stop, mark_types, open_entity

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient


class ServiceBusWorld(EntityWorld):
    """Service Bus and Functions in one process and in virtual time: hours pass in milliseconds, and each run is the same.

    Args:
        start: when the world's time begins.
        create_missing: True if queues are made when they are first served or sent to; False to see what happens when one is missing.
        most_invocations: how many invocations one `run` may take before it is called endless.
    """

    def __init__(self, *, start: datetime = START, create_missing: bool = True, most_invocations: int = 10_000) -> None:
        mark_types()
        start = start.astimezone(UTC)
        fault_points = (*CALLS, *STEPS)
        super().__init__(
            start=start, most_invocations=most_invocations, fault_points=fault_points, possible_faults=possible_faults
        )
        self._create_missing, self._register = create_missing, Register()
        journal, fault_plan = self._journal, self._fault_plan
        self._queues = Queues(self._scheduler, start.timestamp(), self._register, journal.note)
        self._ids = Random("ids")  # noqa: S311  # no secret: they must be the same in each run
        self._shared_state = SharedState(start, self._scheduler, fault_plan, journal, self._invocations)
        self.client = cast("ServiceBusClient", self._new_client())

    def serve(
        self,
        queue: str,
        app: App,
        *,
        instances: int = 1,
        concurrency: int = 16,
        batch_size: int = 1000,
        timeout: Duration = 600,
        lock_renewal: Duration | None = None,
        error_queue: str | None = None,
    ) -> None:
        """Run the functions of an app that the queue triggers.

        Queues that are missing are made as our Bicep template has them: the queue with 100 deliveries, and the error queue of the
        function's `ServiceBusEndpoint`, to which its dead letters are forwarded.

        Args:
            queue: the queue's name; for a function with a topic trigger the subscription's path, such as `events/Subscriptions/audit`.
            app: your `function_app.app`, a blueprint, or a `ServiceBusEndpoint`.
            instances: how many instances of the app there are.
            concurrency: the most messages, or sessions, that one handles at a time: `maxConcurrentCalls`, `maxConcurrentSessions`.
            batch_size: the most messages of a batch: `maxMessageBatchSize`.
            timeout: when an invocation is stopped, with its process: `functionTimeout`.
            lock_renewal: for how long locks are renewed: `maxAutoLockRenewalDuration`; as long as the time-out when not given.
            error_queue: where dead letters are forwarded, where the function is no endpoint but calls one; that of the endpoint if not given.

        Raises:
            LookupError: no function of the app reads the queue, or the queue is missing and is not to be made.
            ValueError: the host would refuse one of these, or the trigger and the queue differ about sessions; or the function has a
                binding beside its trigger, or reads a queue that forwards all its messages.
        """
        renewal = seconds_of(timeout if lock_renewal is None else lock_renewal)
        settings = HostSettings(
            concurrency=concurrency, batch_size=batch_size, timeout=seconds_of(timeout), lock_renewal=renewal
        )
        check_settings(settings, instances)
        if self._queues.is_topic(queue):
            raise ValueError(f"{queue!r} is a topic; serve the queue to which its subscription forwards")
        for function in functions_of(app, queue):
            if self._create_missing:
                make_queues(self._queues, function, error_queue)
            entity = self._existing(queue)
            check_receivable(function, entity)
            for _ in range(instances):
                Host(function, entity, settings, self._shared_state, self._new_broker)

    def send(
        self,
        queue: str,
        body: object,
        *,
        attributes: Mapping[str, Any] | None = None,
        delay: Duration | None = None,
        group_id: str | None = None,
        **fields: Any,
    ) -> str:
        """Send a message, and return its id.

        Args:
            queue: the queue's name, or a topic's.
            body: a text or bytes as they are, anything else as JSON; or a whole message of the SDK, as it is.
            attributes: the sender's application properties.
            delay: when it is to appear.
            group_id: its session; a queue with sessions needs one.
            fields: all that `azure.servicebus.ServiceBusMessage` takes, such as `correlation_id`, `message_id`, `time_to_live`.

        Raises:
            azure.servicebus.exceptions.ServiceBusError: Service Bus would refuse it.
            TypeError: JSON cannot say the body, or something is given twice.
        """
        due = None if delay is None else self.now + timedelta(seconds=seconds_of(delay))
        if not isinstance(body, Sendable):
            fields = {"message_id": f"{self._ids.getrandbits(128):032x}", **fields}
        message = to_message(body, attributes, group_id, due, **fields)
        self.client.get_queue_sender(queue).send_messages(message)
        return self._register.message_id(next(reversed(self._register.contents)))

    def redrive(self, error_queue: str, *, dead_letters: bool = False, **options: Unpack[Options]) -> Redriven:
        """Send messages of an error queue back to where they failed, by the code of `recoverable errors retry`.

        Functions run meanwhile, as time passes between two sends. Run the world afterwards to see what becomes of them.

        Args:
            error_queue: the queue's name.
            dead_letters: True for the queue's dead letters instead of its messages.
            options: see `recoverable_local.testing.engine.redriving.Options`.

        Raises:
            LookupError: no queue of that name was ever made.
            recoverable_operate.errors.OperateError: the command would refuse.
        """
        profile = self._existing(error_queue).profile
        clock, stop = WorldClock(lambda: self.now, self.run), Stop()
        entity = ErrorEntity(NAMESPACE, error_queue.lower(), dead_letters)
        queue = open_entity(
            self.client, self.client, entity, clock=clock, stop=stop,
            max_delivery_count=profile.deliveries or 10, poll=2, sessions=profile.sessions and not dead_letters,
        )  # fmt: skip
        return redrive(queue, clock, stop, options)

    def _new_broker(self) -> Broker:
        """Return a broker of a new client, which measures in the world's time how long connections were idle."""
        return Broker(cast("ServiceBusClient", self._new_client()), clock=self._seconds)

    def _new_client(self) -> Client:
        return Client(self._find, Calls(self._fault_plan, self._journal, self._seconds), self._wait)

    def _wait(self, seconds: float) -> float:
        """Let time pass until something happens, but no longer than this; return how long it was."""
        seconds = min(seconds, max(self._scheduler.next_at() - self._seconds(), 0.0))
        invocation = current_invocation.get()
        if invocation is None:
            self.run(for_=seconds)
        else:
            invocation.spend(seconds)
        return seconds

    def _headers(self, broker_id: str) -> Mapping[str, str]:
        return texts(properties_of(self._register.contents[broker_id]))
