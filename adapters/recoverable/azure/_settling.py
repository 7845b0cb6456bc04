"""Settle the messages of an invocation that need more than their handler: collected sends, copies, deferrals, what is abandoned and acknowledged."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from recoverable._errors import Abandoned
from recoverable._flow.flow import attempt_each
from recoverable._flow.for_host import for_host
from recoverable._flow.settle import hand_back
from recoverable._ladder.delivery import granted
from recoverable._ladder.settlement import COMPLETE, Complete, Forward, Redeliver
from recoverable._observe.extension import Batch, Hidden, call_later
from recoverable._observe.record import record_for, request_id_of
from recoverable._service_bus.app_settings import connection
from recoverable._service_bus.senders import Broker, broker
from recoverable.azure._outgoing import ServiceBusSender, send_acknowledgements, send_outgoing
from recoverable.azure._settle import CopyNotSent, send_copies
from recoverable.azure._waiting import wait_in_place

__all__ = ["Hosted", "broker_for", "outgoing_sender", "settle_all"]

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import NoReturn

    from azure.functions import Context, ServiceBusMessage  # noqa: TID251  # for types alone

    from recoverable._flow.flow import Call, Flow, Run, Steps
    from recoverable._ladder.delivery import Delivery
    from recoverable.azure._processor import Processing
    from recoverable.azure._settings import ServiceBusSettings
    from recoverable.hosting import Environment

    Forwards: TypeAlias = list[tuple[Delivery, Forward]]


LONGEST_SPREAD = timedelta(minutes=15)
"""The most by which the messages of a batch that was delivered before are handed back apart."""

MOST_IN_COMPANY = 10
"""Deliveries without a recorded outcome in a batch with others, after which a message counts as failed even so."""


def broker_for(environment: Environment, settings: ServiceBusSettings) -> Broker:
    """Return what sends to the connection's namespace; the first call in a process makes the client.

    Raises:
        ValueError: the app settings lack the connection.
    """
    return broker(environment.client, lambda: connection(settings.connection, os.environ))


def outgoing_sender(environment: Environment, settings: ServiceBusSettings) -> ServiceBusSender:
    """Return what collecting outgoing messages needs; it makes the client, in the handler's time."""
    return ServiceBusSender(broker_for(environment, settings), settings.queue, environment.clock)


def settle_all(work: Processing) -> Steps:
    """Run the handlers that have not run, then send the copies, then the deferrals, and last what ServiceControl waits for.

    Copies are sent when all handlers have run: nothing is completed until the end, so copies that were sent before a
    crash are sent twice. Deferrals are sent last: when nothing takes a copy the whole batch is redelivered, and each
    deferral that was sent is then there twice.

    Raises:
        Exception: the handler's, or the reason why a copy could not be sent: the host abandons the messages.
    """
    yield from run_handlers(work)
    yield from send_collected(work)
    forwards = yield from forwards_of(work.deliveries, work)
    if forwards:
        yield from send_all([each for each in forwards if not is_deferral(each[0])], work)
        yield from send_deferrals([each for each in forwards if is_deferral(each[0])], work)
    if any(delivery.carried.servicecontrol_retry for delivery in work.deliveries):
        yield partial(send_acknowledgements, work)
    if (record := work.invocation.record) is not None:
        settled = work.invocation.settlement_of
        if completed := [each.message for each in work.deliveries if settled(each) is COMPLETE]:
            yield partial(record.parts.completing, completed)


def run_handlers(work: Processing) -> Steps:
    """Take each message through the ladder in its turn that has not run, but those of a batch that were delivered before.

    Raises:
        Exception: a message is to be redelivered; see `abandon`.
    """
    lock, invocation = work.settings.lock, work.invocation
    if lock is not None and len(work.deliveries) > 1:
        hand_back_apart(work, lock)
    for delivery in work.deliveries:
        if not has_run(delivery, work):
            yield from attempt_each([delivery.message], invocation)
        if delivery.message.group_id is not None:  # before the next message of its session runs
            yield from send_collected(work)
        settlement = invocation.settlements.get(delivery.message)
        if isinstance(settlement, Redeliver):
            yield from abandon(delivery, settlement, work)


def has_run(delivery: Delivery, work: Processing) -> bool:
    """True if a message has its settlement, or waits for what its handler sent."""
    return delivery.message in work.invocation.settlements or any(
        delivery is each for each, *_ in work.invocation.outgoing
    )


def hand_back_apart(work: Processing, lock: timedelta) -> None:
    """Hand back those of a batch that were delivered before, so that they come back one by one, and each time further apart.

    The batch outlived its locks, which the host does not renew, or its process ended. One of them may be too long for the lock, or end its
    process, and nobody can say which: together the others would run with it again and again. Alone it is counted as everywhere.

    Args:
        work: what the invocation works with.
        lock: how far apart they come back after the first time; all within 15 minutes.
    """
    max_immediate = work.settings.recoverability.immediate.max_retries
    again = [each for each in work.deliveries if was_delivered_before(each, max_immediate)]
    if not again:
        return
    for place, delivery in enumerate(again):
        delay = min(place * (1 + delivery.prior_attempts) * lock, LONGEST_SPREAD)
        settlement = hand_back(delivery, work.invocation, delay, reason="it was delivered before with others")
        work.invocation.settle(delivery, settlement)


def was_delivered_before(delivery: Delivery, max_immediate: int) -> bool:
    """True if earlier deliveries of a message ended without its settlement, not so often that it counts, and its handler could run now."""
    most = max(MOST_IN_COMPANY, 3 * (granted(delivery, max_immediate) + 1))
    is_judged = delivery.unreported and delivery.prior_attempts >= most
    return delivery.deliveries > 1 and not (is_judged or delivery.given_up or delivery.due_at)


def send_collected(work: Processing) -> Steps:
    """Send the messages that handlers have sent so far, and settle the handlers' own messages by the answers."""
    if work.invocation.outgoing:
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
    if forwards and (left := (yield partial(send_copies, forwards, work))):
        to, error = left[0].decided.forward.to, left[0].failure and left[0].failure.error
        raise CopyNotSent(f"no copy could be sent to {to!r}: {type(error).__name__}: {error}") from error


def send_deferrals(deferrals: Forwards, work: Processing) -> Steps:
    """Send the copies of deferred messages; run the handler of each message whose copy cannot be sent."""
    if not deferrals:
        return
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


LONG = 3_600.0
"""Seconds that an invocation is taken to have left, because nothing says it."""


class Hosted:
    """One invocation with the parts that extensions take in it, and with a redactor for what is raised to the host.

    Args:
        extensions: those of the endpoint, and of a test.
        settings: the endpoint's.
        environment: client, clock and what else a host brings.
        context: the host's; None where it gave none.
        facts_file: the path of the file that takes all facts as JSON; None for no such file.
    """

    def __init__(
        self, extensions: tuple[object, ...], settings: ServiceBusSettings, environment: Environment,
        context: Context | None, facts_file: str | None,
    ) -> None:  # fmt: skip
        self._context = context
        self.record = record_for(extensions, settings.recoverability, environment, context, facts_file)

    def received(self, natives: list[ServiceBusMessage]) -> list[ServiceBusMessage]:
        """Return the messages as the extensions give them, before anything is read of them."""
        return natives if self.record is None else self.record.parts.received(natives)

    def steps(self, steps: Flow, work: Processing) -> Flow:
        """Have the extensions take part in the steps of an invocation, and return what is raised to its host; see `for_host`."""
        if self.record is not None:
            self.record.parts.open(self._view(work), [each.message for each in work.deliveries])
        return for_host(steps, work.invocation, work.deliveries, LONG.__float__)

    def _view(self, work: Processing) -> Batch:
        """Return the messages of the invocation as extensions see them."""
        environment, gates = work.environment, work.invocation.gates
        return Batch(
            "azure", work.settings.queue, [each.message for each in work.deliveries], request_id_of(self._context),
            work.invocation.redact, environment.clock, time_left=LONG.__float__, settle_within=0.0,
            is_limited=lambda: any(gate.is_limited for gate in gates) if gates else None,
            client_for=lambda queue: (work.broker.client, queue), call_within=environment.call_within or call_directly,
            change_visibility=no_visibility, later=environment.later or call_later, sleep=environment.sleep,
        )  # fmt: skip


def call_directly(_: float, call: Callable[[], Any]) -> Any:
    """Return the result of a call, which has time-outs of its own."""
    return call()


def no_visibility(*_: object) -> Hidden:
    """Raise TypeError: Service Bus has locks."""
    raise TypeError("Batch.change_visibility is for SQS; the Functions host renews the locks of Service Bus")
