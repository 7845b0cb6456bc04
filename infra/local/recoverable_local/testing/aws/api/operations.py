"""The operations of SQS, from a request in the API's words to an answer in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from recoverable_local.testing.aws.broker import checks
from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.refusals import Refusal, missing
from recoverable_local.testing.aws.broker.stored import Attributes, Stored
from recoverable_local.testing.aws.functions.records import digest, digest_of_attributes, system_attributes

Request = Mapping[str, Any]
Answer = dict[str, Any]
Operation = Callable[[Broker, Request], Answer]


def queue_of(broker: Broker, request: Request) -> Queue:
    """The queue of the request's URL, whatever its host and account."""
    return broker.queue(request["QueueUrl"].rstrip("/").rpartition("/")[2])


def send_message(broker: Broker, request: Request) -> Answer:
    """Take one message."""
    return sent(broker, queue_of(broker, request), request)


def sent(broker: Broker, queue: Queue, entry: Request) -> Answer:
    """Check a message and take it."""
    checks.check_entry(entry, queue.settings)
    deduplication = entry.get("MessageDeduplicationId")
    if queue.settings.fifo and deduplication is None:
        deduplication = sha256(entry["MessageBody"].encode()).hexdigest()
    message = broker.send(
        queue,
        entry["MessageBody"],
        {name: dict(value) for name, value in (entry.get("MessageAttributes") or {}).items()},
        delay=entry.get("DelaySeconds"),
        group=entry.get("MessageGroupId"),
        deduplication=deduplication,
        trace=(entry.get("MessageSystemAttributes") or {}).get("AWSTraceHeader", {}).get("StringValue"),
    )
    return {
        "MessageId": message.id,
        "MD5OfMessageBody": digest(message.body),
        **of_attributes(message.attributes),
        **({"SequenceNumber": message.sequence} if queue.settings.fifo else {}),
    }


def of_attributes(attributes: Attributes) -> Answer:
    """The digest of a message's attributes, which one without any has not."""
    found = digest_of_attributes(attributes)
    return {"MD5OfMessageAttributes": found} if found else {}


def send_message_batch(broker: Broker, request: Request) -> Answer:
    """Take up to ten messages, each for itself."""
    entries, queue = request["Entries"], queue_of(broker, request)
    checks.check_batch(entries, "SendMessageBatch")
    checks.check_batch_size(entries)
    return each(entries, lambda entry: sent(broker, queue, entry))


def each(entries: list[Request], do: Callable[[Request], Answer]) -> Answer:
    """Do it for each entry: what was done, and what was refused."""
    done, failed = [], []
    for entry in entries:
        try:
            done.append({"Id": entry["Id"], **do(entry)})
        except Refusal as refusal:
            error = {"SenderFault": True, "Code": refusal.code, "Message": refusal.message}
            failed.append({"Id": entry["Id"], **error})
    return {name: found for name, found in (("Successful", done), ("Failed", failed)) if found}


def receive_message(broker: Broker, request: Request) -> Answer:
    """Hand out up to ten messages that are visible now."""
    queue, most = queue_of(broker, request), request.get("MaxNumberOfMessages", 1)
    visibility = request.get("VisibilityTimeout")
    checks.check_receive(most, request.get("WaitTimeSeconds", 0), visibility)
    received = broker.receive(queue, most, visibility)
    return {"Messages": [described(broker, message, request) for message in received]} if received else {}


def described(broker: Broker, message: Stored, request: Request) -> Answer:
    """A message as ReceiveMessage gives it, with the attributes that were asked for."""
    asked = {*request.get("AttributeNames", ()), *request.get("MessageSystemAttributeNames", ())}
    system = chosen(system_attributes(message, broker.start), asked)
    own = chosen(message.attributes, set(request.get("MessageAttributeNames", ())))
    return {
        "MessageId": message.id,
        "ReceiptHandle": message.receipt,
        "MD5OfBody": digest(message.body),
        "Body": message.body,
        **({"Attributes": system} if system else {}),
        **({"MessageAttributes": own, **of_attributes(own)} if own else {}),
    }


def chosen(attributes: Mapping[str, Any], asked: set[str]) -> Answer:
    """The attributes that were asked for: by name, by the beginning of their names, or all."""
    beginnings = tuple(name.removesuffix("*") for name in asked if name.endswith("*"))
    everything = bool(asked & {"All", ".*"})
    return {
        name: value
        for name, value in attributes.items()
        if everything or name in asked or (beginnings and name.startswith(beginnings))
    }


def delete_message(broker: Broker, request: Request) -> Answer:
    """Delete one message."""
    return deleted(broker, queue_of(broker, request), request)


def deleted(broker: Broker, queue: Queue, entry: Request) -> Answer:
    """Delete the message of a receipt handle."""
    broker.delete(queue, entry["ReceiptHandle"])
    return {}


def delete_message_batch(broker: Broker, request: Request) -> Answer:
    """Delete up to ten messages, each for itself."""
    entries, queue = request["Entries"], queue_of(broker, request)
    checks.check_batch(entries, "DeleteMessageBatch")
    return each(entries, lambda entry: deleted(broker, queue, entry))


def change_message_visibility(broker: Broker, request: Request) -> Answer:
    """Hide one message for so long from now."""
    return hidden(broker, queue_of(broker, request), request)


def hidden(broker: Broker, queue: Queue, entry: Request) -> Answer:
    """Check a visibility timeout and set it."""
    seconds = entry.get("VisibilityTimeout")
    if seconds is None:
        raise missing("VisibilityTimeout")
    checks.check_visibility(seconds)
    broker.hide(queue, entry["ReceiptHandle"], seconds)
    return {}


def change_message_visibility_batch(broker: Broker, request: Request) -> Answer:
    """Hide up to ten messages, each for itself."""
    entries, queue = request["Entries"], queue_of(broker, request)
    checks.check_batch(entries, "ChangeMessageVisibilityBatch")
    return each(entries, lambda entry: hidden(broker, queue, entry))
