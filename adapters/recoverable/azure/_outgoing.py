"""Send what handlers sent to Service Bus, once they have succeeded, and settle their messages by what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable._flow.refusals import MOST_REFUSALS, is_refused_for_good, settle_unknown
from recoverable._flow.settle import settle_failure, settle_on_end, settle_unsent, settle_unsent_in_order
from recoverable._ladder.backoff import delay_after_refusal, pauses
from recoverable._ladder.settlement import COMPLETE
from recoverable._message import Message, received
from recoverable._outgoing.message import Outgoing, OutgoingRefused
from recoverable._service_bus.answers import UNTRIED, failure_of
from recoverable._service_bus.wire import (
    LARGEST_ULONG,
    SMALLEST_LONG,
    Copy,
    check_properties,
    in_milliseconds,
    origin_of,
    typed,
)
from recoverable.azure._copies import broker_id, identity
from recoverable.azure._messages import aware
from recoverable.headers import CORRELATION_ID, MESSAGE_ID, ORIGIN, sendable
from recoverable.nservicebus.acknowledgements import acknowledgements, log_not_acknowledged

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable._service_bus.answers import Failure
    from recoverable._service_bus.senders import Broker
    from recoverable.azure._processor import Processing


class Entry(NamedTuple):
    """One outgoing message, ready to be sent, and how long it waits from then on."""

    copy: Copy
    delay: timedelta | None


class Unsent(NamedTuple):
    """A copy that was not sent, and why."""

    copy: Copy
    failure: Failure


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
        """Return which message the first original was; see `origin_of`."""
        native = received(message)
        return message.headers.get(ORIGIN) or origin_of(broker_id(native), aware(native.enqueued_time_utc))

    def entry_of(self, message: Message, outgoing: Outgoing, headers: dict[str, str]) -> Entry:
        """Return the entry.

        Raises:
            TypeError: a property of another kind.
            ValueError: an entity of another namespace; properties, a number or a text that Service Bus does not take.
        """
        call = f"Message.{outgoing.intent.lower()}"
        group = outgoing.group_id or message.group_id
        fields: dict[str, Any] = {
            "body": outgoing.body,
            "message_id": outgoing.message_id,
            "correlation_id": headers[CORRELATION_ID],
            "application_properties": sendable(
                {name: property_of(call, name, value) for name, value in outgoing.attributes.items()} | headers
            ),
            **({"session_id": group} if group else {}),
        }
        check_properties(call, fields)
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
    if isinstance(value, str | datetime):
        return value
    if not isinstance(value, bool | int | float):
        raise TypeError(
            f"{call}(attributes) has {name!r} of type {type(value).__name__}; write text, a number, a bool or a datetime, and bytes as text, such as base64"
        )
    if isinstance(value, int) and not SMALLEST_LONG <= value <= LARGEST_ULONG:
        raise ValueError(f"{call}(attributes) has {name!r} of {value}; write an integer of 64 bits, or a text")
    return typed(value)


def send_acknowledgements(work: Processing) -> None:
    """Send ServiceControl an acknowledgement of each retry of its own that was handled or discarded; what cannot be sent is logged, and its message is completed all the same."""
    invocation, to = work.invocation, work.settings.recoverability.failed.error_queue or ""
    completed = [each for each in work.deliveries if invocation.settlement_of(each) is COMPLETE]
    waiting = acknowledgements(completed, to, lambda each: identity(each, broker_id(each.native), "", to), invocation)
    for delivery, headers in waiting:
        fields = {"body": b"", "message_id": headers[MESSAGE_ID], "application_properties": headers}
        try:
            (failure,) = work.send([Copy(delivery.message.id, to, fields)])
        except Exception as error:  # noqa: BLE001  # logged; such as a connection that is not set
            failure = failure_of(error)
        if failure is not None:
            log_not_acknowledged(delivery, f"Service Bus send to '{to}' failed: {failure.reason}", invocation)


def send_outgoing(work: Processing) -> None:
    """Send what the invocation's handlers sent so far, and record the settlement of their messages.

    Args:
        work: what the invocation works with.
    """
    invocation = work.invocation
    waiting, invocation.outgoing = invocation.outgoing, []
    now = invocation.clock()
    copies = {delivery: [copy_at(entry, now) for entry in outbox.close()] for delivery, outbox, _ in waiting}
    results = iter(work.send([copy for each in copies.values() for copy in each]))
    unsent = {delivery: unsent_of(each, results) for delivery, each in copies.items()}
    rest = pauses(min(work.patience, work.seconds_for_sends() / 2))
    refusals = {delivery: send_rest(delivery, each, work, rest) for delivery, each in unsent.items()}
    answers = {copy.to for delivery, refused in refusals.items() if refused is None for copy in copies[delivery]}
    for delivery, _, seconds in waiting:
        refused = refusals[delivery]
        settlement = (
            settle_on_end(delivery, seconds, invocation)
            if refused is None
            else settle_failed_send(delivery, refused, work, takes_others=refused.copy.to in answers)
        )
        invocation.settle(delivery, settlement)


def copy_at(entry: Entry, now: datetime) -> Copy:
    """Return the copy as it is sent at this time: a delay begins when the message is sent."""
    if not entry.delay:
        return entry.copy
    due = {"scheduled_enqueue_time_utc": in_milliseconds(now + entry.delay)}
    return entry.copy._replace(fields=entry.copy.fields | due)


def unsent_of(copies: list[Copy], results: Iterator[Failure | None]) -> list[Unsent]:
    """Return which copies were not sent; take a result for each."""
    return [Unsent(copy, failure) for copy in copies if (failure := next(results)) is not None]


def passing_if_denied_everywhere(refused: Unsent, work: Processing) -> Unsent:
    """Return a copy to which access was denied as one whose credentials may be at fault, where its message's own queue refuses these too."""
    if refused.failure.kind != "denied" or work.broker.takes_links(work.settings.queue):
        return refused
    return refused._replace(failure=refused.failure._replace(kind="busy"))


def is_over(delivery: Delivery, refused: Unsent, work: Processing) -> bool:
    """True if an answer that nobody knows counts as refused for good by now, so that no repetition helps."""
    now, most = work.environment.clock(), most_refusals(work)
    return refused.failure.is_unknown and is_refused_for_good(delivery, refused.copy.to, now, most)


def most_refusals(work: Processing) -> int:
    """Return how many answers that nobody knows a message waits for; in a batch its neighbours are delivered again with it."""
    return 3 if work.settings.batch else MOST_REFUSALS


def send_rest(delivery: Delivery, unsent: list[Unsent], work: Processing, rest: Iterator[float]) -> Unsent | None:
    """Send one delivery's messages by themselves, again after growing pauses; return one that was not sent, or None.

    Args:
        delivery: its message.
        unsent: the messages that were not sent together with those of others, one of which may be the reason.
        work: what the invocation works with.
        rest: the pauses that are left to the invocation.
    """
    if missing := next((each for each in unsent if each.failure.kind == "missing"), None):
        return missing
    while unsent:
        copies = [each.copy for each in unsent]
        unsent = unsent_of(copies, iter(work.send(copies)))
        if first := next((each for each in unsent if each.failure is not UNTRIED), None):
            refused = passing_if_denied_everywhere(first, work)
            if refused.failure.is_for_good or is_over(delivery, refused, work) or (pause := next(rest, None)) is None:
                return refused
            work.environment.sleep(pause)
    return None


def settle_failed_send(delivery: Delivery, refused: Unsent, work: Processing, *, takes_others: bool) -> Any:
    """Return the settlement of a delivery of which an outgoing message was not sent.

    Args:
        delivery: its message.
        refused: the outgoing message.
        work: what the invocation works with.
        takes_others: True if the same entity took what the other messages of the batch sent there, so that an answer that nobody knows is
            about this message.
    """
    to, failure, invocation = refused.copy.to, refused.failure, work.invocation
    if failure.is_for_good or (failure.is_unknown and takes_others):
        reason = f"{failure.reason}: {failure.error}"
        delivery.error = OutgoingRefused(
            f"'{to}' refused an outgoing message ({reason}); check that this queue or topic exists, and that the function has the role Azure Service Bus Data Sender on it"
        )
        return settle_failure(delivery, delivery.error, invocation)
    if invocation.platform.redelivers_only:
        waited = delay_after_refusal(delivery.receives - 1)  # nobody knows since when the session waits
        return settle_unsent_in_order(delivery, to, failure.reason, invocation, waited=waited)
    if failure.is_unknown:
        return settle_unknown(delivery, to, failure.reason, invocation, most_refusals(work))
    return settle_unsent(delivery, to, failure.reason, invocation)
