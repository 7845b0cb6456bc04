"""Handle the messages of one invocation: triggers' messages → deliveries → attempts → copies.

A return completes the messages, an exception abandons them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from recoverable._errors import Abandoned
from recoverable._flow.deadline import FOREVER, Deadline
from recoverable._flow.flow import attempt_each, coroutines, drive
from recoverable._flow.invocation import Invocation
from recoverable._frozen import Frozen
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import COMPLETE
from recoverable._message import outgoing
from recoverable._rate_limit import gates_of
from recoverable.azure._messages import delivery_of, without_ambiguous_fields
from recoverable.azure._threads import limited
from recoverable.azure._waiting import LockLease, SessionLease, time_here
from recoverable.hosting import current_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from datetime import timedelta

    from azure.functions import Context, ServiceBusMessage  # noqa: TID251  # for types alone

    from recoverable._flow.flow import Flow, Steps
    from recoverable._flow.settle import Lease
    from recoverable._ladder.settlement import Platform
    from recoverable._message import Message
    from recoverable._observe.record import Record
    from recoverable._service_bus.answers import Failure
    from recoverable._service_bus.senders import Broker
    from recoverable._service_bus.wire import Copy
    from recoverable.azure._settings import ServiceBusSettings, Times
    from recoverable.azure._settling import Hosted
    from recoverable.hosting import Environment

ADVICE = (
    "It sends nothing more, and all of it is delivered again. Lower maxMessageBatchSize, or raise the queue's lockDuration and "
    "ServiceBusEndpoint(lock=...)"
)


class WorkerDeadline(Deadline):
    """The time that handlers have on Functions: no alarm stops a plain one, because the worker runs it in a thread."""

    def arm(self) -> None:
        """Do nothing."""


class Processor(Frozen):
    """Takes the messages of an invocation through the ladder, with an endpoint's settings.

    Args:
        handler: the user's function.
        is_coroutine: True if it returns a coroutine.
        settings: the endpoint's settings.
        platform: what it counts and can do.
        times: those of its invocations.
        environment: client and clock of an invocation that no test makes.
        facts_file: the path of the file that takes all facts, where a host asks for them.
    """

    handler: Callable[[Message], Any]
    is_coroutine: bool
    settings: ServiceBusSettings
    platform: Platform
    times: Times
    environment: Environment
    facts_file: str | None

    __hash__ = object.__hash__  # the state that a process keeps is each endpoint's own

    def process(self, natives: list[ServiceBusMessage], context: Context | None) -> Any:
        """Handle the messages; for a coroutine handler, return a coroutine.

        Args:
            natives: the trigger's messages.
            context: the host's, for handlers that ask for it.

        Raises:
            Exception: the handler's, or the reason why a copy could not be sent: the host then redelivers the messages.
        """
        result = self._run(natives, context)
        if result is None or self.is_coroutine:
            return result
        raise result  # here, where no local variable holds an exception that it stands for

    def _run(self, natives: list[ServiceBusMessage], context: Context | None) -> Any:
        """Handle the messages; return an exception for the host, and for a coroutine handler a coroutine."""
        environment = current_environment.get() or self.environment
        settings = self.settings
        hosted = self._hosted(environment, context)
        if hosted is not None:
            natives = hosted.received(natives)
        if len(natives) > 1:
            natives = without_ambiguous_fields(natives, settings.queue)
        recoverability, platform = settings.recoverability, self.platform
        deliveries = [delivery_of(native, settings.queue, recoverability, platform) for native in natives]
        invocation = self._invocation(environment, context, None if hosted is None else hosted.record)
        for_sends = countdown(environment, self.times.for_sends)
        work = Processing(deliveries, invocation, environment, settings, self.times.patience, for_sends)
        steps: Flow = process_messages(work)
        if hosted is not None:
            steps = hosted.steps(steps, work)
        handler = self._handler(environment)
        if not self.is_coroutine:
            return drive(steps, handler, invocation.deadline)
        done = coroutines().drive_async(steps, handler)
        return done if hosted is None else raising(done)

    def warm_up(self) -> None:
        """Import what sends, and make the process's client, before the first message."""
        outgoing()
        settling().outgoing_sender(self.environment, self.settings)

    def _invocation(self, environment: Environment, context: Context | None, record: Record | None) -> Invocation:
        own, in_place = self.settings.handler_timeout, self.times.in_place
        seconds = FOREVER if own is None else own.total_seconds()
        deadline = WorkerDeadline(countdown(environment, self.times.for_handlers), seconds)
        deadline.now = environment.seconds

        began = None if in_place is None else environment.seconds()

        def lease() -> Lease:
            if self.platform.redelivers_only:
                return SessionLease(invocation)
            return LockLease(invocation, environment, self.settings.lock, began)

        invocation = Invocation(
            self.settings.recoverability, self.platform, environment, deadline, context=context,
            seconds_for_retries=countdown(environment, self.times.for_retries),
            seconds_in_place=None if in_place is None else countdown(environment, time_here(environment, in_place)),
            gates=() if (limit := self.settings.recoverability.rate_limit) is None else gates_of(self, limit, self.settings.recoverability.redact, environment), record=record, sender=lambda: settling().outgoing_sender(environment, self.settings),
            lease=None if self.settings.batch else lease, holds_interruptions=False,
        )  # fmt: skip
        return invocation

    def _handler(self, environment: Environment) -> Callable[[Message], Any]:
        handler = environment.wrap_handler(self.handler) if environment.wrap_handler else self.handler
        if self.settings.handler_timeout is None or self.is_coroutine:
            return handler
        return limited(handler, self.settings.handler_timeout.total_seconds(), environment)

    def _hosted(self, environment: Environment, context: Context | None) -> Hosted | None:
        """Return what has extensions take part, and a redactor see what is raised; None where nobody does."""
        extensions = (*self.settings.extensions, *environment.extensions)
        if not extensions and self.facts_file is None and self.settings.recoverability.redact is None:
            return None
        hosted: Hosted = settling().Hosted(extensions, self.settings, environment, context, self.facts_file)
        return hosted


async def raising(done: Coroutine[Any, Any, BaseException | None]) -> None:
    """Raise what an invocation returns for the host."""
    if (failure := await done) is not None:
        raise failure


class Processing:
    """The work of one invocation.

    Args:
        deliveries: its messages.
        invocation: what their attempts share, and how each message is to be settled.
        environment: client, clock, and what waits.
        settings: the endpoint's.
        patience: for how many seconds sends are repeated that Service Bus did not take.
        seconds_for_sends: returns for how many seconds copies may still be sent, which is until the locks of a batch end.
    """

    def __init__(
        self, deliveries: list[Delivery], invocation: Invocation, environment: Environment, settings: ServiceBusSettings,
        patience: float, seconds_for_sends: Callable[[], float],
    ) -> None:  # fmt: skip
        self.deliveries, self.invocation, self.environment, self.settings = (
            deliveries,
            invocation,
            environment,
            settings,
        )
        self.patience, self.seconds_for_sends = patience, seconds_for_sends

    @cached_property
    def broker(self) -> Broker:
        """Return what sends; see `broker_for`."""
        made: Broker = settling().broker_for(self.environment, self.settings)
        return made

    def send(self, copies: list[Copy], *, alone: bool = False) -> list[Failure | None]:
        """Send copies; return for each the reason why it was not sent, or None; see `Broker.send`.

        A batch that outlives its locks is delivered again, beside itself. If it sent its copies all the same, each delivery would make
        copies of its own, and each copy again. So its handlers start in time, and it sends nothing once the locks are over.

        Raises:
            Abandoned: the locks of the batch are over: it is delivered again, and would send the same once more.
        """
        if self.seconds_for_sends() <= 0:
            raise Abandoned(
                f"a batch from '{self.settings.queue}' took longer than its locks of {self.settings.lock} allow. {ADVICE}"
            )
        return self.broker.send(copies, self.environment, alone=alone)


def countdown(environment: Environment, time: timedelta | None) -> Callable[[], float]:
    """Return a function that returns the seconds that are left of a time that begins now; without one it is endless."""
    if time is None:
        return FOREVER.__float__
    ends, seconds = environment.seconds() + time.total_seconds(), environment.seconds
    return lambda: ends - seconds()


def process_messages(work: Processing) -> Steps:
    """Run the handlers of an invocation, and settle its messages; a message that comes alone and succeeds needs no more.

    Raises:
        Exception: the handler's, or the reason why a copy could not be sent: the host abandons the messages.
    """
    if len(work.deliveries) == 1:
        (delivery,) = work.deliveries
        yield from attempt_each([delivery.message], work.invocation)
        is_done = work.invocation.settlements.get(delivery.message) is COMPLETE and work.invocation.record is None
        if is_done and not delivery.carried.servicecontrol_retry:
            return
    yield from settling().settle_all(work)


def settling() -> Any:
    """Return the module that does all but run the handler of one message."""
    import recoverable.azure._settling as module  # noqa: PLC0415  # door: to what fails, sends, or takes part

    return module
