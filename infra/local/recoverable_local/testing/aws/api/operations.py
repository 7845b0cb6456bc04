"""Perform the SQS operations on messages, from the API's request to its answer."""

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
    """Return the queue of the request's URL; host and account are ignored."""
    return broker.queue(request["QueueUrl"].rstrip("/").rpartition("/")[2])


def send_message(broker: Broker, request: Request) -> Answer:
    """Take one message."""
    return send_one(broker, queue_of(broker, request), request)


def send_one(broker: Broker, queue: Queue, entry: Request) -> Answer:
    """Check one message and take it."""
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
        **attributes_digest(message.attributes),
        **({"SequenceNumber": message.sequence} if queue.settings.fifo else {}),
    }


def attributes_digest(attributes: Attributes) -> Answer:
    """Return the digest of a message's attributes; empty when it has none."""
    found = digest_of_attributes(attributes)
    return {"MD5OfMessageAttributes": found} if found else {}


def send_message_batch(broker: Broker, request: Request) -> Answer:
    """Take up to ten messages; each succeeds or fails alone."""
    entries, queue = request["Entries"], queue_of(broker, request)
    checks.check_batch(entries, "SendMessageBatch")
    checks.check_batch_size(entries)
    return for_each(entries, lambda entry: send_one(broker, queue, entry))


def for_each(entries: list[Request], do: Callable[[Request], Answer]) -> Answer:
    """Do it for each entry; return which succeeded and which were refused."""
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
    return {"Messages": [describe_message(broker, message, request) for message in received]} if received else {}


def describe_message(broker: Broker, message: Stored, request: Request) -> Answer:
    """Return a message as ReceiveMessage does, with the attributes that were requested."""
    asked = {*request.get("AttributeNames", ()), *request.get("MessageSystemAttributeNames", ())}
    system = select_attributes(system_attributes(message, broker.start), asked)
    own = select_attributes(message.attributes, set(request.get("MessageAttributeNames", ())))
    return {
        "MessageId": message.id,
        "ReceiptHandle": message.receipt,
        "MD5OfBody": digest(message.body),
        "Body": message.body,
        **({"Attributes": system} if system else {}),
        **({"MessageAttributes": own, **attributes_digest(own)} if own else {}),
    }


def select_attributes(attributes: Mapping[str, Any], asked: set[str]) -> Answer:
    """Return the attributes that were requested: by name, by prefix, or all."""
    beginnings = tuple(name.removesuffix("*") for name in asked if name.endswith("*"))
    everything = bool(asked & {"All", ".*"})
    return {
        name: value
        for name, value in attributes.items()
        if everything or name in asked or (beginnings and name.startswith(beginnings))
    }


def delete_message(broker: Broker, request: Request) -> Answer:
    """Delete one message."""
    return delete_one(broker, queue_of(broker, request), request)


def delete_one(broker: Broker, queue: Queue, entry: Request) -> Answer:
    """Delete the message of a receipt handle."""
    broker.delete(queue, entry["ReceiptHandle"])
    return {}


def delete_message_batch(broker: Broker, request: Request) -> Answer:
    """Delete up to ten messages; each succeeds or fails alone."""
    entries, queue = request["Entries"], queue_of(broker, request)
    checks.check_batch(entries, "DeleteMessageBatch")
    return for_each(entries, lambda entry: delete_one(broker, queue, entry))


def change_message_visibility(broker: Broker, request: Request) -> Answer:
    """Hide one message for this long from now."""
    return hide_one(broker, queue_of(broker, request), request)


def hide_one(broker: Broker, queue: Queue, entry: Request) -> Answer:
    """Check a visibility timeout and set it."""
    seconds = entry.get("VisibilityTimeout")
    if seconds is None:
        raise missing("VisibilityTimeout")
    checks.check_visibility(seconds)
    broker.hide(queue, entry["ReceiptHandle"], seconds)
    return {}


def change_message_visibility_batch(broker: Broker, request: Request) -> Answer:
    """Hide up to ten messages; each succeeds or fails alone."""
    entries, queue = request["Entries"], queue_of(broker, request)
    checks.check_batch(entries, "ChangeMessageVisibilityBatch")
    return for_each(entries, lambda entry: hide_one(broker, queue, entry))
