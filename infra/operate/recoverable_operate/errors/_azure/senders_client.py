"""Send copies to the queues of a Service Bus namespace, and tell a refusal from a lost answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recoverable._service_bus.answers import failure_of
from recoverable_operate.errors._azure.answers import describe
from recoverable_operate.errors._azure.entity import Entity, entity_of
from recoverable_operate.errors._azure.messages import UncopyableBody, fields_of, sections_of
from recoverable_operate.errors._queue import PAUSES, Clock, Copy, SendResult

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender

IDLE = timedelta(minutes=5)
"""After so long a sender is opened anew: Service Bus closes links that are idle for ten minutes, and a send must not
be tried twice."""


class Senders:
    """The senders of a run, one for each queue.

    Args:
        client: tries each send once.
        source: the error queue.
        clock: tells the time.
    """

    def __init__(self, client: ServiceBusClient, source: Entity, clock: Clock) -> None:
        self._client, self._source, self._clock = client, source, clock
        self._open: dict[str, tuple[ServiceBusSender, datetime]] = {}

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta | None) -> SendResult:
        """Send the copies together; if they are refused together, one by one."""
        result = SendResult()
        ready: list[tuple[str, ServiceBusMessage]] = []
        target = entity_of(to)
        if target.namespace != self._source.namespace:
            why = f"{to} is in another namespace, to which this command does not send"
            return SendResult(refused=dict.fromkeys((each.message.broker_id for each in copies), why))
        for copy in copies:
            try:
                ready.append((copy.message.broker_id, self._message(copy, target, delay)))
            except UncopyableBody as error:
                result.refused[copy.message.broker_id] = str(error)
        if ready:
            self._send(target, ready, result)
        return result

    def close(self) -> None:
        """Close them."""
        for sender, _ in self._open.values():
            sender.close()
        self._open.clear()

    def _message(self, copy: Copy, target: Entity, delay: timedelta | None) -> ServiceBusMessage:
        from azure.servicebus import ServiceBusMessage

        names = {"namespace": self._source.namespace, "entity": self._source.path, "to": target.path}
        message = ServiceBusMessage(**fields_of(copy, **names, delay=delay, now=self._clock.now()))
        raw, sections = message.raw_amqp_message, sections_of(copy.message.native)
        if raw.properties and sections["content_encoding"]:
            raw.properties.content_encoding = sections["content_encoding"]
        raw.annotations = {**(raw.annotations or {}), **sections["annotations"]}
        raw.footer = sections["footer"] or None
        return message

    def _send(self, target: Entity, ready: list[tuple[str, ServiceBusMessage]], result: SendResult) -> None:
        try:
            self._send_patiently(target.path, [message for _, message in ready])
        except Exception as error:  # noqa: BLE001  # whatever it is, the result holds it
            why = describe(error, target.address, "Send")
            if not failure_of(error).is_for_good:
                result.unanswered = why
            elif len(ready) == 1:
                result.refused[ready[0][0]] = why
            else:
                for each in ready:
                    if not result.unanswered:
                        self._send(target, [each], result)
        else:
            result.sent += [number for number, _ in ready]

    def _send_patiently(self, path: str, messages: list[ServiceBusMessage]) -> None:
        """Send, again after growing pauses while the namespace is busy, which took none of them."""
        for pause in PAUSES:
            try:
                return self._sender(path).send_messages(messages)
            except Exception as error:
                if failure_of(error).kind != "busy":
                    raise
            self._clock.sleep(pause)
        return self._sender(path).send_messages(messages)

    def _sender(self, path: str) -> ServiceBusSender:
        now = self._clock.now()
        sender, used = self._open.get(path, (None, now))
        if sender is not None and now - used > IDLE:
            sender.close()
            sender = None
        sender = sender or self._client.get_queue_sender(path)
        self._open[path] = sender, now
        return sender
