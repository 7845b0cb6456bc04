"""Read a message of an SQS error queue, and make its copy. Pure."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from math import ceil
from typing import Any, NamedTuple

from recoverable._sqs.batches import MAX_SIZE, size
from recoverable._sqs.names import NAME, destination
from recoverable._sqs.queues import LONGEST_DELAY, Queue, queue_from_arn
from recoverable._sqs.wire import S3_BODY_KEY, Wire, changed, entry_of, is_attribute, pointer_of, typed, wire_of
from recoverable.headers import MESSAGE_ID, TIME_SENT, read_date
from recoverable_operate.errors._message import EDIT_OF, FailedMessage, problem_of
from recoverable_operate.errors._queue import Copy, OperateError

Record = dict[str, Any]


class Native(NamedTuple):
    """A message as Lambda would write it, and taken apart."""

    record: Record
    wire: Wire


class Unsendable(Exception):
    """Raised when SQS would not take a copy."""


def record_of(received: Mapping[str, Any]) -> Record:
    """Return a message of ReceiveMessage as Lambda writes it, which is also what JSON can hold."""
    return {
        "messageId": received["MessageId"],
        "receiptHandle": received["ReceiptHandle"],
        "body": received["Body"],
        "attributes": dict(received.get("Attributes") or {}),
        "messageAttributes": {
            name: attribute_of(value) for name, value in (received.get("MessageAttributes") or {}).items()
        },
    }


def attribute_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message attribute as Lambda writes it."""
    if "BinaryValue" in value:
        return {"dataType": value["DataType"], "binaryValue": b64encode(value["BinaryValue"]).decode()}
    return {"dataType": value["DataType"], "stringValue": value.get("StringValue", "")}


def checked_record(line: Mapping[str, Any]) -> Record:
    """Return a record that was exported.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    record = {"messageId": line["messageId"], "body": line["body"]}
    if not all(isinstance(each, str) and each for each in record.values()):
        raise ValueError("messageId and body must be texts")
    for name in ("attributes", "messageAttributes"):
        record[name] = dict(line.get(name) or {})
    if not all(map(is_attribute, record["messageAttributes"], record["messageAttributes"].values())):
        raise ValueError("SQS takes no message attribute of this type")
    return record


def failed_message(record: Record) -> FailedMessage:
    """Return the record in our words. Nothing that a sender writes raises here."""
    wire = wire_of(record)
    record, system = wire.record, record["attributes"]
    headers = dict(wire.promoted())
    body, error = body_of(record, wire)
    enqueued = from_milliseconds(system.get("SentTimestamp"))
    return FailedMessage(
        headers.get(MESSAGE_ID) or record["messageId"],
        record["messageId"],
        headers,
        body,
        origin=record["messageId"],
        enqueued_at=enqueued,
        sent_at=read_date(headers, TIME_SENT) or enqueued,
        group_id=system.get("MessageGroupId"),
        receives=int(system.get("ApproximateReceiveCount", "1")),
        source=system.get("DeadLetterQueueSourceArn"),
        body_error=error,
        problem=problem_of(headers) or wrapper_problem(wire, record["body"]),
        native=Native(record, wire),
    )


def body_of(record: Record, wire: Wire) -> tuple[bytes | None, str | None]:
    """Return the body; or None, and where in S3 it is, from where nothing here fetches it."""
    if (pointer := pointer_of(record, wire)) is not None:
        bucket = f"in the bucket {pointer.bucket} " if pointer.bucket else ""
        return None, f"in S3, {bucket}under the key {pointer.key}"
    body = wire.body
    assert not callable(body)  # what would have to be fetched has a pointer
    return body.encode(errors="surrogatepass") if isinstance(body, str) else body, None


def wrapper_problem(wire: Wire, body: str) -> str | None:
    """Return why NServiceBus's wrapper cannot be read; None for a body that is none, and for one that can."""
    looks_wrapped = body.lstrip().startswith("{") and '"Headers"' in body and '"NServiceBus.' in body
    return "its wrapper cannot be read" if looks_wrapped and wire.wrapper is None and not wire.headers else None


def from_milliseconds(text: str | None) -> datetime | None:
    """Return the time of a system attribute; None when it is absent or malformed."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(text or ""))
    except (ValueError, OverflowError):
        return None


def entry_for(copy: Copy, *, source: Queue, to: Queue, delay: timedelta | None) -> dict[str, Any]:
    """Return the copy as an entry for SendMessageBatch, without its Id; one without changes is the message as it lies there.

    Args:
        copy: the copy.
        source: the error queue.
        to: where it goes.
        delay: how long it is hidden, None for as long as the queue says; a FIFO queue has no delay of a message.

    Raises:
        Unsendable: SQS does not take it.
    """
    record, wire = copy.message.native
    entry = entry_of(changed(wire, copy.changes)) if copy.changes else as_it_lies(record)
    if (excess := size(entry) - MAX_SIZE) > 0:
        raise Unsendable(f"its copy would be {excess:,} bytes larger than the {MAX_SIZE:,} that SQS takes")
    check_delay(to, delay)
    return entry | addressed(copy, source, to, delay)


def as_it_lies(record: Record) -> dict[str, Any]:
    """Return body and attributes of a message, none of them read."""
    return {"MessageBody": record["body"], "MessageAttributes": typed(record["messageAttributes"])}


def check_delay(to: Queue, delay: timedelta | None) -> None:
    """Raise Unsendable for a delay that the queue cannot have."""
    if delay and to.fifo:
        raise Unsendable("a FIFO queue delays no single message; leave --delay out")
    if delay and delay > LONGEST_DELAY:
        raise Unsendable(f"SQS delays a message by {LONGEST_DELAY.seconds} seconds at most; give a shorter --delay")


def line_of(message: FailedMessage) -> Record:
    """Return the record as Lambda writes it, without what only this receive had, and without a body that the line says itself."""
    record, wire = message.native
    left_out = {"receiptHandle"} if message.body is None or wire.wrapper is not None else {"receiptHandle", "body"}
    return {name: value for name, value in record.items() if name not in left_out}


def message_of(line: Mapping[str, Any], body: bytes | None) -> FailedMessage:
    """Return the message of an exported record, with its body: in the wrapper where there is one.

    Raises:
        KeyError, TypeError, ValueError: it is none, or SQS takes no such body.
    """
    if body is not None and "body" not in line:
        try:
            return failed_message(checked_record({**line, "body": body.decode(errors="surrogatepass")}))
        except UnicodeDecodeError:
            raise ValueError("its body is no text in UTF-8, and SQS takes nothing else") from None
    message = failed_message(checked_record(line))
    record, wire = message.native
    if body in (None, message.body) or wire.wrapper is None:
        return message
    wrapper = {**wire.wrapper, "Body": b64encode(body).decode(), S3_BODY_KEY: None}
    return replace(
        message, body=body, native=Native(record, Wire(record, body, wire.headers, wire.attributes, wrapper))
    )


def addressed(copy: Copy, source: Queue, to: Queue, delay: timedelta | None) -> dict[str, Any]:
    """Return group, deduplication id and delay, as far as the kind of queue has them."""
    group = copy.message.group_id
    if to.fifo:
        return {"MessageGroupId": group or copy.message.broker_id, "MessageDeduplicationId": identity(copy, source, to)}
    seconds = {} if delay is None else {"DelaySeconds": ceil(delay.total_seconds())}
    return seconds | ({"MessageGroupId": group} if group else {})


def identity(copy: Copy, source: Queue, to: Queue) -> str:
    """Return the copy's own id: the same original makes the same copy; an edited message is another original."""
    original = str(copy.changes[MESSAGE_ID]) if EDIT_OF in copy.changes else copy.message.broker_id
    parts = (source.region, source.account, source.name, original, to.account, to.name)
    return sha256("\n".join(parts).encode()).hexdigest()


def arn_of(queue: str, source_arn: str) -> str:
    """Return the ARN of a queue, given by ARN, URL or name; a name is of the region and account of `source_arn`.

    Raises:
        OperateError: it is none.
    """
    try:
        found = destination(queue, queue_from_arn(source_arn))
    except ValueError as error:
        raise OperateError(str(error)) from None
    if not re.fullmatch(NAME, found.name):
        raise OperateError(f"{queue!r} is no queue of SQS; write its name, its ARN or its URL")
    return queue if queue.startswith("arn:") else arn_in(source_arn.split(":")[1], found)


def arn_in(partition: str, queue: Queue) -> str:
    """Return the ARN of a queue in a partition, such as aws or aws-cn."""
    return f"arn:{partition}:sqs:{queue.region}:{queue.account}:{queue.name}"
