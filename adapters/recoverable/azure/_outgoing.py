"""Send what handlers sent to Service Bus, once they have succeeded, and settle their messages by what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from recoverable._flow.settle import settle_failure, settle_on_end
from recoverable._flow.unsent import settle_unsent, settle_unsent_in_order
from recoverable._ladder.backoff import delay_after_refusal, pauses
from recoverable._limits import NO_DELAY
from recoverable._message import Message, received
from recoverable._outgoing.message import Outgoing, OutgoingRefused
from recoverable._service_bus.answers import UNTRIED
from recoverable._service_bus.wire import Copy, in_milliseconds, typed
from recoverable.azure._copies import broker_id
from recoverable.azure._messages import delivered
from recoverable.headers import CORRELATION_ID, ORIGIN

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._service_bus.answers import Failure
    from recoverable._service_bus.senders import Broker
    from recoverable.azure._processor import Processing

    Send: TypeAlias = Callable[[list[Copy]], list[Failure | None]]


class Entry(NamedTuple):
    """One outgoing message, ready to be sent, and how long it waits from then on."""

    copy: Copy
    delay: timedelta


class ServiceBusSender:
    """A namespace, as far as collecting outgoing messages needs it.

    Args:
        bus: the namespace's broker.
        queue: the queue that the messages came from.
        clock: returns the time.
    """

    def __init__(self, bus: Broker, queue: str, clock: Callable[[], datetime]) -> None:
        self._bus, self.now = bus, clock
        self.source = f"{bus.namespace}/{queue}".lower()

    def origin_of(self, message: Message) -> str:
        """Return the sequence number of the first original; its MessageId where the host gives no number."""
        return message.headers.get(ORIGIN) or broker_id(received(message))

    def entry_of(self, message: Message, outgoing: Outgoing, headers: dict[str, str]) -> Entry:
        """Return the entry.

        Raises:
            TypeError: a property of another kind.
            ValueError: an entity of another namespace.
        """
        call = f"Message.{outgoing.intent.lower()}"
        group = outgoing.group_id or message.group_id
        fields: dict[str, Any] = {
            "body": outgoing.body,
            "message_id": outgoing.message_id,
            "correlation_id": headers[CORRELATION_ID],
            "application_properties": {
                **{name: property_of(call, name, value) for name, value in outgoing.attributes.items()},
                **headers,
            },
            **({"session_id": group} if group else {}),
        }
        return Entry(Copy(message.id, self._entity(call, outgoing.destination), fields), outgoing.delay)

    def _entity(self, call: str, destination: str) -> str:
        """Return the name of a queue or topic of this namespace."""
        if not destination.startswith("sb://"):
            return destination
        host, _, entity = destination.removeprefix("sb://").partition("/")
        if host.lower() != self._bus.namespace.lower() or not entity:
            raise ValueError(
                f"{call} names {destination!r}, and the connection is to '{self._bus.namespace}'; write a queue or topic of that namespace"
            )
        return entity


def property_of(call: str, name: object, value: object) -> Any:
    """Return an application property as azure-servicebus sends it with its type."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"{call}(attributes) has the name {name!r}; write texts as names")
    if isinstance(value, bytes | datetime):
        return value
    if not isinstance(value, str | bool | int | float):
        raise TypeError(
            f"{call}(attributes) has {name!r} of type {type(value).__name__}; write text, a number, a bool, bytes or a datetime"
        )
    return typed(value)


def send_outgoing(work: Processing) -> None:
    """Send what the invocation's handlers sent so far, and record the settlement of their messages.

    Args:
        work: what the invocation works with.
    """
    invocation, send, sleep = work.invocation, partial(work.send, work.broker()), work.environment.sleep
    waiting, invocation.outgoing = invocation.outgoing, []
    now = invocation.clock()
    copies = {delivery: [copy_at(entry, now) for entry in outbox.close()] for delivery, outbox, _ in waiting}
    together = send([copy for each in copies.values() for copy in each])
    left = iter(together)
    unsent = {delivery: [copy for copy in each if next(left) is not None] for delivery, each in copies.items()}
    rest = pauses(min(work.patience, work.seconds_for_sends() / 2))
    for delivery, _, seconds in waiting:
        failure = send_rest(unsent[delivery], send, rest, sleep) if unsent[delivery] else None
        settlement = (
            settle_on_end(delivery, seconds, invocation)
            if failure is None
            else settle_failed_send(delivery, unsent[delivery][0].to, failure, invocation)
        )
        invocation.settle(delivery, settlement)


def copy_at(entry: Entry, now: datetime) -> Copy:
    """Return what is sent at this time: a delay begins when the message is sent."""
    if entry.delay <= NO_DELAY:
        return entry.copy
    due = {"scheduled_enqueue_time_utc": in_milliseconds(now + entry.delay)}
    return entry.copy._replace(fields=entry.copy.fields | due)


def send_rest(copies: list[Copy], send: Send, rest: Iterator[float], sleep: Callable[[float], None]) -> Failure | None:
    """Send one delivery's messages by themselves, again after growing pauses; return why one was not sent, or None.

    Args:
        copies: what was not sent together with the messages of others, of which one may be the reason.
        send: sends them; returns for each the reason why it was not sent, or None.
        rest: the pauses that are left to the invocation.
        sleep: waits for so many seconds.
    """
    while True:
        results = send(copies)
        copies = [copy for copy, failure in zip(copies, results, strict=True) if failure is not None]
        failures = [failure for failure in results if failure is not None]
        if not failures:
            return None
        failure = next((each for each in failures if each is not UNTRIED), UNTRIED)
        if failure.is_for_good or (pause := next(rest, None)) is None:
            return failure
        sleep(pause)


def settle_failed_send(delivery: Delivery, to: str, failure: Failure, invocation: Invocation) -> Any:
    """Return the settlement of a delivery of which an outgoing message was not sent."""
    if failure.may_repeat:
        if not invocation.platform.redelivers_only:
            return settle_unsent(delivery, to, failure.reason, invocation)
        deliveries = delivered(delivery.native.delivery_count)
        waited = delay_after_refusal(deliveries - 1)  # nobody knows since when the session waits
        return settle_unsent_in_order(delivery, to, failure.reason, invocation, deliveries=deliveries, waited=waited)
    reason = f"{failure.reason}: {failure.error}"
    delivery.error = OutgoingRefused(
        f"'{to}' refused an outgoing message ({reason}); check that this queue or topic exists, and that the function has the role Azure Service Bus Data Sender on it"
    )
    return settle_failure(delivery, delivery.error, invocation)
