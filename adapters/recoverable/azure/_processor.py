"""Handle the messages of one invocation: triggers' messages → deliveries → attempts → copies.

A return completes the messages, an exception abandons them.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, assert_never

from recoverable._flow.deadline import FOREVER, Deadline
from recoverable._flow.flow import attempt_each, drive
from recoverable._flow.invocation import Invocation
from recoverable._frozen import Frozen
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Complete, Forward, Redeliver
from recoverable.azure._messages import delivery_of
from recoverable.hosting import current_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator
    from datetime import timedelta

    from azure.functions import Context, ServiceBusMessage  # noqa: TID251  # for types alone

    from recoverable._flow.flow import Call, Flow, Run, Steps
    from recoverable._flow.settle import Lease
    from recoverable._ladder.settlement import Platform
    from recoverable._message import Message
    from recoverable._observe.observer import Observer
    from recoverable._rate_limit.limiter import Limiter
    from recoverable._service_bus.answers import Failure
    from recoverable._service_bus.senders import Broker
    from recoverable._service_bus.wire import Copy
    from recoverable.azure._outgoing import ServiceBusSender
    from recoverable.azure._settings import ServiceBusSettings, Times
    from recoverable.hosting import Environment

Forwards: TypeAlias = list[tuple[Delivery, Forward]]


ADVICE = (
    "It sends nothing more, and all of it is delivered again. Lower maxMessageBatchSize, or raise the queue's lockDuration and "
    "ServiceBusEndpoint(lock=...)"
)


class Abandoned(Exception):
    """Raised to have the host abandon its messages where no exception of a handler says why, and for one that is a BaseException."""

    __module__ = "recoverable.azure"  # the name under which users import it


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
        if len(natives) > 1:
            from recoverable.azure._batches import without_ambiguous_fields  # noqa: PLC0415  # for batches alone

            natives = without_ambiguous_fields(natives, settings.queue)
        recoverability, platform = settings.recoverability, self.platform
        deliveries = [delivery_of(native, settings.queue, recoverability, platform) for native in natives]
        invocation = self._invocation(environment, context)
        for_sends = countdown(environment, self.times.for_sends)
        work = Processing(deliveries, invocation, environment, settings, self.times.patience, for_sends)
        steps: Flow = process_messages(work)
        if invocation.observer is not None:
            from recoverable._flow.emit import emit_after  # noqa: PLC0415  # imported for those who observe

            steps = emit_after(steps, invocation.observer, invocation, deliveries)
        handler = self._handler(environment)
        if not self.is_coroutine:
            return drive(steps, handler, invocation.deadline)
        from recoverable._flow.drive_async import drive_async  # noqa: PLC0415  # asyncio, for those who need it

        done = drive_async(steps, handler)
        return done if invocation.observer is None else raising(done)

    def warm_up(self) -> None:
        """Import what sends, and make the process's client, before the first message."""
        import recoverable._outgoing.outbox  # noqa: F401, PLC0415  # else the first send imports it

        outgoing_sender(self.environment, self.settings)

    def _invocation(self, environment: Environment, context: Context | None) -> Invocation:
        own = self.settings.handler_timeout
        seconds = FOREVER if own is None else own.total_seconds()
        deadline = WorkerDeadline(countdown(environment, self.times.for_handlers), seconds)
        deadline.now = environment.seconds

        def lease() -> Lease:
            from recoverable.azure._waiting import SessionLease  # noqa: PLC0415  # the failure side

            return SessionLease(invocation)

        invocation = Invocation(
            self.settings.recoverability, self.platform, environment.clock, deadline, context=context,
            seconds_for_retries=countdown(environment, self.times.for_retries), limiter=self._limiter(environment),
            observer=self._observer(environment, context), sender=partial(outgoing_sender, environment, self.settings),
            lease=lease if self.platform.redelivers_only else None, holds_interruptions=False,
        )  # fmt: skip
        if self.times.in_place is not None:
            from recoverable.azure._waiting import time_here  # noqa: PLC0415  # for sessions alone

            invocation.seconds_in_place = countdown(environment, time_here(environment, self.times.in_place))
        return invocation

    def _handler(self, environment: Environment) -> Callable[[Message], Any]:
        handler = environment.wrap_handler(self.handler) if environment.wrap_handler else self.handler
        if self.settings.handler_timeout is None or self.is_coroutine:
            return handler
        from recoverable.azure._threads import limited  # noqa: PLC0415  # for those who limit the time

        return limited(handler, self.settings.handler_timeout.total_seconds(), environment)

    def _observer(self, environment: Environment, context: Context | None) -> Observer | None:
        if self.settings.recoverability.observe is None and self.facts_file is None:
            return None
        from recoverable._observe.observer import Observer  # noqa: PLC0415  # imported for those who observe

        return Observer(self.settings.recoverability, "servicebus", environment.clock, context, self.facts_file)

    def _limiter(self, environment: Environment) -> Limiter | None:
        limit = self.settings.recoverability.rate_limit
        if limit is None:
            return None
        from recoverable._rate_limit.limiter import limiter_for  # noqa: PLC0415  # imported for those who limit the rate

        return limiter_for(self, limit, self.settings.recoverability, environment)


async def raising(done: Coroutine[Any, Any, BaseException | None]) -> None:
    """Raise what an invocation returns for the host."""
    if (failure := await done) is not None:
        raise failure


class Processing(NamedTuple):
    """The work of one invocation.

    Args:
        deliveries: its messages.
        invocation: what their attempts share, and how each message is to be settled.
        environment: client, clock, and what waits.
        settings: the endpoint's.
        patience: for how many seconds sends are repeated that Service Bus did not take.
        seconds_for_sends: returns for how many seconds copies may still be sent, which is until the locks of a batch end.
    """

    deliveries: list[Delivery]
    invocation: Invocation
    environment: Environment
    settings: ServiceBusSettings
    patience: float
    seconds_for_sends: Callable[[], float]

    def broker(self) -> Broker:
        """Return what sends; see `broker_for`."""
        return broker_for(self.environment, self.settings)

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
        return self.broker().send(copies, self.environment, alone=alone)


def countdown(environment: Environment, time: timedelta | None) -> Callable[[], float]:
    """Return a function that returns the seconds that are left of a time that begins now; without one it is endless."""
    if time is None:
        return FOREVER.__float__
    ends, seconds = environment.seconds() + time.total_seconds(), environment.seconds
    return lambda: ends - seconds()


def broker_for(environment: Environment, settings: ServiceBusSettings) -> Broker:
    """Return what sends to the connection's namespace; the first call in a process makes the client.

    Raises:
        ValueError: the app settings lack the connection.
    """
    from recoverable._service_bus.app_settings import connection  # noqa: PLC0415  # the SDK's side, as below
    from recoverable._service_bus.senders import broker  # noqa: PLC0415

    return broker(environment.client, lambda: connection(settings.connection, os.environ))


def outgoing_sender(environment: Environment, settings: ServiceBusSettings) -> ServiceBusSender:
    """Return what collecting outgoing messages needs; it makes the client, in the handler's time."""
    from recoverable.azure._outgoing import ServiceBusSender  # noqa: PLC0415  # for handlers that send

    return ServiceBusSender(broker_for(environment, settings), settings.queue, environment.clock)


def process_messages(work: Processing) -> Steps:
    """Run the handlers of an invocation, then send the copies, then the deferrals, and last what ServiceControl waits for.

    Copies are sent when all handlers have run: nothing is completed until the end, so copies that were sent before a
    crash are sent twice. Deferrals are sent last: when nothing takes a copy the whole batch is redelivered, and each
    deferral that was sent is then there twice.

    Raises:
        Exception: the handler's, or the reason why a copy could not be sent: the host abandons the messages.
    """
    yield from run_handlers(work)
    if work.invocation.outgoing:
        yield from send_collected(work)
    forwards = yield from forwards_of(work.deliveries, work)
    if forwards:
        yield from send_all([each for each in forwards if not is_deferral(each[0])], work)
        yield from send_deferrals([each for each in forwards if is_deferral(each[0])], work)
    if any(delivery.carried.servicecontrol_retry for delivery in work.deliveries):
        from recoverable.azure._outgoing import send_acknowledgements  # noqa: PLC0415  # few messages are such

        yield partial(send_acknowledgements, work)


def run_handlers(work: Processing) -> Steps:
    """Take each message through the ladder in its turn, but those of a batch that were delivered before.

    Raises:
        Exception: a message is to be redelivered; see `abandon`.
    """
    lock, settlements = work.settings.lock, work.invocation.settlements
    if lock is not None and len(work.deliveries) > 1:
        from recoverable.azure._batches import hand_back_apart  # noqa: PLC0415  # for batches alone

        hand_back_apart(work, lock)
    for delivery in work.deliveries:
        if delivery.message in settlements:
            continue
        yield from attempt_each([delivery.message], work.invocation)
        if delivery.message.group_id is not None:  # before the next message of its session runs
            yield from send_collected(work)
        settlement = settlements.get(delivery.message)
        if isinstance(settlement, Redeliver):
            yield from abandon(delivery, settlement, work)


def send_collected(work: Processing) -> Steps:
    """Send the messages that handlers have sent so far, and settle the handlers' own messages by the answers."""
    if work.invocation.outgoing:
        from recoverable.azure._outgoing import send_outgoing  # noqa: PLC0415  # it was imported to collect

        yield partial(send_outgoing, work)


def forwards_of(deliveries: list[Delivery], work: Processing) -> Generator[Run | Call, Any, Forwards]:
    """Return the deliveries of which a copy is to be sent, each with its forwarding.

    Raises:
        Exception: a message is to be redelivered; see `abandon`.
    """
    forwards: Forwards = []
    for delivery in deliveries:
        settlement = work.invocation.settlements.get(delivery.message)
        match settlement:
            case Complete():
                pass
            case Forward():
                forwards.append((delivery, not_beside(delivery, settlement, work.settings)))
            case Redeliver():
                yield from abandon(delivery, settlement, work)
            case None:
                raise Abandoned("it has no recorded settlement; the message is delivered again")
            case _:
                assert_never(settlement)
    return forwards


def not_beside(delivery: Delivery, forward: Forward, settings: ServiceBusSettings) -> Forward:
    """Return the forwarding so that a retry waits for `handler_timeout` at least, while the handler that was left behind may still run."""
    least = settings.handler_timeout
    if least is None or not delivery.left_behind or forward.to != settings.queue or forward.delay >= least:
        return forward
    return forward.replace(delay=least)


def abandon(delivery: Delivery, settlement: Redeliver, work: Processing) -> Generator[Run | Call, Any, NoReturn]:
    """Have the host abandon a message, after its wait in place if it has one.

    Raises:
        Exception: always: the handler's exception, or `Abandoned`.
    """
    if settlement.after:
        from recoverable.azure._waiting import wait_in_place  # noqa: PLC0415  # for ordered sessions alone

        yield partial(wait_in_place, settlement.after, work)
    error = delivery.error
    if error is None:
        why = "what the handler sent was not taken for now" if delivery.unsent else "it waits while the rate is limited"
        raise Abandoned(f"{why}; the message is delivered again")
    raise error if isinstance(error, Exception) else Abandoned(repr(error)) from error


def is_deferral(delivery: Delivery) -> bool:
    """True if the message waits without an attempt: where its copy cannot be sent, its handler can run instead."""
    return delivery.error is None and not (delivery.unreported or delivery.given_up or delivery.unsent)


def send_all(forwards: Forwards, work: Processing) -> Steps:
    """Send copies.

    Raises:
        CopyNotSent: no queue took one of them.
    """
    if forwards:
        from recoverable.azure._settle import CopyNotSent, send_copies  # noqa: PLC0415  # the failure side

        if left := (yield partial(send_copies, forwards, work)):
            to, error = left[0].decided.forward.to, left[0].failure and left[0].failure.error
            raise CopyNotSent(f"no copy could be sent to {to!r}: {type(error).__name__}: {error}") from error


def send_deferrals(deferrals: Forwards, work: Processing) -> Steps:
    """Send the copies of deferred messages; run the handler of each message whose copy cannot be sent."""
    if not deferrals:
        return
    from recoverable.azure._settle import send_copies  # noqa: PLC0415  # the failure side

    try:
        unsent = yield partial(send_copies, deferrals, work, deferred=True)
    except Exception:  # noqa: BLE001  # such as a connection that is not set: the messages run instead
        left = [delivery for delivery, _ in deferrals]
    else:
        left = [letter.delivery for letter in unsent]
    for delivery in left:
        yield from attempt_each([delivery.message], work.invocation, may_defer=False)
        yield from send_collected(work)
    yield from send_all((yield from forwards_of(left, work)), work)
