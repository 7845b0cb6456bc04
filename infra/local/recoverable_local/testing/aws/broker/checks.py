"""Refuse messages and batches that SQS refuses; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from recoverable_local.testing.aws.broker.queues import Settings
from recoverable_local.testing.aws.broker.refusals import Refusal, batch, invalid, invalid_value, missing

Entry = Mapping[str, Any]

MAX_ENTRIES = 10
MAX_ATTRIBUTES = 10
MAX_BATCH = 1_048_576
"""Entries, attributes and bytes (Amazon SQS message quotas)."""

LONGEST_DELAY = 900
"""Seconds (Amazon SQS delay queues)."""

LONGEST_VISIBILITY = 43_200
"""Seconds (Amazon SQS visibility timeout)."""

LONGEST_WAIT = 20
"""Seconds (ReceiveMessage)."""

BATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
ATTRIBUTE_NAME = re.compile(r"(?!(?i:aws|amazon)\.)(?!\.)(?!.*\.\.)(?!.*\.\Z)[A-Za-z0-9_.-]{1,256}")
KIND = re.compile(r"(String|Number|Binary)(\..+)?")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
TOKEN = re.compile(r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}")
NOT_ALLOWED = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""SendMessage: #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to #x10FFFF are allowed."""


def check_entry(entry: Entry, queue: Settings) -> None:
    """Refuse a message that SQS does not accept.

    Raises:
        Refusal: with SQS's reason.
    """
    body = entry.get("MessageBody")
    if not body:
        raise missing("MessageBody")
    if NOT_ALLOWED.search(body):
        raise Refusal("InvalidMessageContents", "Invalid characters found. Valid unicode characters are #x9 | #xA ...")
    check_attributes(entry.get("MessageAttributes") or {})
    if size_of(entry) > queue.max_size:
        raise invalid(
            f"One or more parameters are invalid. Reason: Message must be shorter than {queue.max_size} bytes."
        )
    check_delay(entry.get("DelaySeconds"), fifo=queue.fifo)
    check_identity(entry, queue)


def check_delay(delay: int | None, *, fifo: bool) -> None:
    """Refuse a delay that is out of range; on a FIFO queue, refuse any."""
    if delay is None:
        return
    if not 0 <= delay <= LONGEST_DELAY:
        raise invalid_value(delay, "DelaySeconds", f"DelaySeconds must be >= 0 and <= {LONGEST_DELAY}.")
    if fifo and delay:
        raise wrong_kind(delay, "DelaySeconds")


def check_identity(entry: Entry, queue: Settings) -> None:
    """Refuse a group or deduplication id that is missing where it is required, or present where it is not allowed."""
    group, deduplication = entry.get("MessageGroupId"), entry.get("MessageDeduplicationId")
    if queue.fifo and group is None:
        raise missing("MessageGroupId")
    if queue.fifo and deduplication is None and not queue.content_deduplication:
        raise invalid(
            "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
        )
    if deduplication is not None and not queue.fifo:
        raise wrong_kind(deduplication, "MessageDeduplicationId")
    for name, value in (("MessageGroupId", group), ("MessageDeduplicationId", deduplication)):
        if value is not None and not TOKEN.fullmatch(value):
            raise invalid_value(
                value, name, f"{name} can only include alphanumeric and punctuation characters. 1 to 128 in length."
            )


def wrong_kind(value: object, parameter: str) -> Refusal:
    """Return the refusal of a parameter that is for the other kind of queue."""
    return invalid_value(value, parameter, "The request include parameter that is not valid for this queue type")


def check_attributes(attributes: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse too many attributes, and invalid names, types or values."""
    if len(attributes) > MAX_ATTRIBUTES:
        raise invalid(
            f"Number of message attributes [{len(attributes)}] exceeds the allowed maximum [{MAX_ATTRIBUTES}]."
        )
    for name, value in attributes.items():
        kind = value.get("DataType") or ""
        if not ATTRIBUTE_NAME.fullmatch(name):
            raise invalid(f"The message attribute name '{name}' is invalid.")
        if not KIND.fullmatch(kind):
            raise invalid(
                f"The type of message (user) attribute '{name}' is invalid. You must use only the following supported type prefixes: Binary, Number, String."
            )
        check_content(name, kind.partition(".")[0], value)


def check_content(name: str, kind: str, value: Mapping[str, Any]) -> None:
    """Refuse an attribute's value that is empty or not of its type."""
    content = value.get("BinaryValue" if kind == "Binary" else "StringValue")
    if not content:
        raise invalid(f"Message (user) attribute '{name}' must contain a non-empty value of type '{kind}'.")
    if kind == "Number" and not NUMBER.fullmatch(content):
        raise invalid(f"Can't cast the value of message (user) attribute '{name}' to a number.")
    if kind != "Binary" and NOT_ALLOWED.search(content):
        raise Refusal("InvalidMessageContents", f"Invalid characters found in attribute '{name}'.")


def check_batch(entries: Sequence[Entry], request: str) -> None:
    """Refuse a batch as a whole: empty, too long, or with ids that are invalid or not distinct."""
    if not entries:
        text = f"There should be at least one {request}RequestEntry in the request."
        raise batch("EmptyBatchRequest", text)
    if len(entries) > MAX_ENTRIES:
        text = f"Maximum number of entries per request are {MAX_ENTRIES}. You have sent {len(entries)}."
        raise batch("TooManyEntriesInBatchRequest", text)
    ids = [entry["Id"] for entry in entries]
    for entry_id in ids:
        if not BATCH_ID.fullmatch(entry_id):
            text = "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long."
            raise batch("InvalidBatchEntryId", text)
        if ids.count(entry_id) > 1:
            raise batch("BatchEntryIdsNotDistinct", f"Id {entry_id} repeated.")


def check_batch_size(entries: Sequence[Entry], most: int = MAX_BATCH) -> None:
    """Refuse messages that together exceed the size of a batch."""
    if (total := sum(map(size_of, entries))) > most:
        text = f"Batch requests cannot be longer than {most} bytes. You have sent {total} bytes."
        raise batch("BatchRequestTooLong", text)


def check_visibility(seconds: int) -> None:
    """Refuse a visibility timeout that is out of range."""
    if not 0 <= seconds <= LONGEST_VISIBILITY:
        reason = f"VisibilityTimeout must be between 0 and {LONGEST_VISIBILITY}."
        raise invalid_value(seconds, "VisibilityTimeout", reason)


def size_of(entry: Entry) -> int:
    """Return the bytes of a message as SQS counts them: the body, and each attribute's name, type and value."""
    total = len((entry.get("MessageBody") or "").encode("utf-8", "surrogatepass"))
    for name, value in (entry.get("MessageAttributes") or {}).items():
        content = value.get("BinaryValue") or (value.get("StringValue") or "").encode("utf-8", "surrogatepass")
        total += len(name.encode()) + len((value.get("DataType") or "").encode()) + len(content)
    return total


def check_receive(most: int, wait: int, visibility: int | None) -> None:
    """Refuse a receive of more than ten messages, a wait of more than 20 seconds, or a visibility timeout out of range."""
    if not 1 <= most <= MAX_ENTRIES:
        raise invalid_value(most, "MaxNumberOfMessages", "Must be between 1 and 10, if provided.")
    if not 0 <= wait <= LONGEST_WAIT:
        raise invalid_value(wait, "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")
    if visibility is not None:
        check_visibility(visibility)
