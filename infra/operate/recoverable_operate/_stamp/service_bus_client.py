"""Stamp the dead letters of a Service Bus queue, and make the function that does."""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from recoverable._ladder import faults
from recoverable._service_bus.app_settings import connection
from recoverable._service_bus.senders import broker
from recoverable._service_bus.wire import Copy as ServiceBusCopy
from recoverable.azure._messages import ARRAYS
from recoverable.hosting import Deadline, Environment, current_environment, now
from recoverable_operate._stamp.copies import stamped
from recoverable_operate.errors._azure.messages import address_of, failed_message, fields_of
from recoverable_operate.errors._azure.typed_values import typed_value, written
from recoverable_operate.errors._message import ACTIVE
from recoverable_operate.errors._queue import Copy

if TYPE_CHECKING:
    from azure.functions import Blueprint, ServiceBusMessage

    from recoverable._service_bus.answers import Failure
    from recoverable._service_bus.senders import Broker

PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds between two sends that Service Bus did not take; then the message is delivered again."""


class NotStamped(Exception):
    """Raised where a dead letter could not be sent on, so that the host abandons it and it is delivered again."""


@dataclass(frozen=True, slots=True)
class Stamping:
    """The settings of a function that stamps.

    Args:
        to: the error queue.
        queue: the dead-letter queue.
        connection: the name of the connection in the app settings.
    """

    to: str
    queue: str
    connection: str

    def __call__(self, native: ServiceBusMessage) -> None:
        """Send a dead letter on as an error copy; the host completes it when this returns.

        Raises:
            NotStamped: it was not sent; the host delivers it again.
        """
        environment = current_environment.get() or Environment(None, now, Deadline)
        bus = broker(environment.client, partial(connection, self.connection, os.environ))
        message = failed_message(record_of_trigger(native), namespace=bus.namespace, dead_letters_of=None)
        source = message.source or address_of(bus.namespace, self.queue)
        changes = stamped(message, source, message.enqueued_at or environment.clock())
        failure = self._send(Copy(message, changes), bus, environment)
        if failure is not None and failure.is_for_good:  # such as for its properties: it goes on as it is
            failure = self._send(Copy(message, {}), bus, environment)
        if failure is not None:
            raise NotStamped(
                f"'{self.to}' did not take a dead letter from '{self.queue}' ({failure.kind}: {failure.error}). It is delivered again. Check"
                " stamp(to), and that the function has the role Azure Service Bus Data Sender on that queue."
            ) from failure.error

    def _send(self, copy: Copy, bus: Broker, environment: Environment) -> Failure | None:
        """Send a copy, again after growing pauses where that may help; return why it was not sent, or None."""
        names = {"namespace": bus.namespace, "entity": self.queue, "to": self.to}
        fields = fields_of(copy, **names, delay=None, now=environment.clock())
        ready = [ServiceBusCopy(copy.message.id, self.to, fields, trims=faults.FIRST_TO_TRIM)]
        for pause in PAUSES:
            (failure,) = bus.send(ready, environment)
            if failure is None or failure.is_for_good:
                return failure
            environment.sleep(pause)
        return bus.send(ready, environment)[0]


def record_of_trigger(native: ServiceBusMessage) -> dict[str, Any]:
    """Return a message of a Functions trigger as this package's commands have one."""
    properties = native.application_properties or native.user_properties or {}
    return {
        "sequenceNumber": native.sequence_number,
        "enqueuedAt": written(native.enqueued_time_utc),
        "deliveryCount": native.delivery_count or 0,
        "state": ACTIVE,
        "body": b64encode(native.get_body()).decode(),
        "bodyType": "data",
        "messageId": native.message_id,
        "deadLetterSource": native.dead_letter_source,
        "fields": {name: value for name in ARRAYS if (value := getattr(native, name))},
        "properties": {name: typed_value(value) for name, value in properties.items()},
    }


def blueprint(stamping: Stamping, name: str) -> Blueprint:
    """Return a blueprint with the function and its trigger, which gives one message of bytes at a time."""
    from azure.functions import Blueprint, Cardinality, DataType

    def stamp(message: Any) -> None:
        stamping(message)

    stamp.__annotations__ = {}  # which the host could not resolve
    made = Blueprint()  # type: ignore[no-untyped-call]  # its __init__ has no annotations
    trigger = made.service_bus_queue_trigger(
        arg_name="message", queue_name=stamping.queue, connection=stamping.connection, data_type=DataType.BINARY,
        cardinality=Cardinality.ONE, auto_complete_messages=True,
    )  # fmt: skip
    made.function_name(name)(trigger(stamp))
    return made
