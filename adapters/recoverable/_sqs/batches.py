"""Make batches as SQS and SNS take them, call with them, and read which entries an answer confirms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from recoverable._sqs.answers import Failure, entry_failure

Entry: TypeAlias = dict[str, Any]
"""An entry of a batch, without its Id."""

MAX_SIZE = 1_048_576
"""Bytes a message, and a batch of them, can have, attributes included (Amazon SQS message quotas)."""

MAX_ENTRIES = 10
"""Entries a batch can have (SendMessageBatch)."""


class BatchOperation(NamedTuple):
    """A batch operation, by its name and by those of the client's method and of its arguments."""

    name: str
    method: str
    address: str = "QueueUrl"
    entries: str = "Entries"


SEND = BatchOperation("SendMessageBatch", "send_message_batch")
PUBLISH = BatchOperation("PublishBatch", "publish_batch", "TopicArn", "PublishBatchRequestEntries")
DELETE = BatchOperation("DeleteMessageBatch", "delete_message_batch")
CHANGE_VISIBILITY = BatchOperation("ChangeMessageVisibilityBatch", "change_message_visibility_batch")


NOT_NAMED = Failure("lost", "", "its answer does not name them")


class Result(NamedTuple):
    """The result of one call.

    Args:
        failures: the failures by the numbers of the entries; what is missing is confirmed.
        as_a_whole: True if the call failed, and not some of its entries.
    """

    failures: dict[int, Failure]
    as_a_whole: bool = False


def call_batch(client: Any, operation: BatchOperation, address: str, entries: Sequence[Entry]) -> Any:
    """Make one call, with the entries' numbers for their Ids, and return its answer."""
    numbered = [{"Id": str(number), **entry} for number, entry in enumerate(entries)]
    return getattr(client, operation.method)(**{operation.address: address, operation.entries: numbered})


def batch_failures(answer: object, number: int) -> dict[int, Failure]:
    """Return the failures in the answer to a batch call by the numbers of their entries; what is missing is confirmed.

    An entry is confirmed only when the answer says so, and says nothing else.

    Args:
        answer: what the service answered.
        number: how many entries the call had; their Ids are "0", "1" and so on.
    """
    confirmed, failed = entries_in(answer, "Successful"), entries_in(answer, "Failed")
    return {
        n: entry_failure(failed[str(n)]) if str(n) in failed and str(n) not in confirmed else NOT_NAMED
        for n in range(number)
        if str(n) in failed or str(n) not in confirmed
    }


def entries_in(answer: object, name: str) -> dict[str, dict[str, Any]]:
    """Return the entries of a list in an answer by their ids; none of those that are no entries."""
    listed = answer.get(name) if isinstance(answer, dict) else None
    entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {each["Id"]: each for each in entries if isinstance(each.get("Id"), str)}


def send_singly(
    result: Result, send: Callable[[Sequence[Entry]], Result], entries: Sequence[Entry]
) -> dict[int, Failure]:
    """Return the failures of a batch by number, after sending each entry alone where the batch was refused as a whole for one of them.

    So one bad entry does not hold back nine good ones.

    Args:
        result: the batch's.
        send: makes one call.
        entries: the batch.
    """
    failures, as_a_whole = result
    if not as_a_whole or len(entries) == 1 or not failures[0].is_for_good or failures[0].concerns_destination:
        return failures
    alone = {number: send([entry]).failures.get(0) for number, entry in enumerate(entries)}
    return {number: failure for number, failure in alone.items() if failure is not None}


def size(entry: Entry) -> int:
    """Return the bytes of an entry as SQS counts them: the body, and each attribute's name, type and value."""
    total = len(entry["MessageBody"].encode())
    for name, value in entry["MessageAttributes"].items():
        content = value.get("BinaryValue") or value.get("StringValue", "").encode()
        total += len(name.encode()) + len(value["DataType"].encode()) + len(content)
    return total


class Sendable(Protocol):
    """What is put into batches: it has a destination and a weight in bytes."""

    @property
    def to(self) -> object:
        """Return where it goes."""

    @property
    def weight(self) -> int:
        """Return its bytes."""


S = TypeVar("S", bound=Sendable)


def first_batch(waiting: Iterable[S], most: int = MAX_SIZE) -> list[S]:
    """Return the first of what waits for one destination, as much as one call takes: ten entries, and so many bytes, but at least one."""
    batch: list[S] = []
    total = 0
    for each in waiting:
        total += each.weight
        if len(batch) == MAX_ENTRIES or (batch and total > most):
            break
        batch.append(each)
    return batch


def batches(items: Iterable[S]) -> list[list[S]]:
    """Return the items in batches that SQS takes: to one destination, ten entries and 1 MiB at most. Each destination's order is kept."""
    by_destination: dict[object, list[S]] = {}
    for item in items:
        by_destination.setdefault(item.to, []).append(item)
    made: list[list[S]] = []
    for waiting in by_destination.values():
        while waiting:
            made.append(first_batch(waiting))
            del waiting[: len(made[-1])]
    return made
