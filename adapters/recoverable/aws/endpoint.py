"""`SqsEndpoint`: the Lambda handler. Event → deliveries → attempts → settling → response."""

from __future__ import annotations

import os
from datetime import timedelta

from ..alarm import Alarm
from ..attempt import Invocation, attempt, now
from ..config import Failed, Recoverability
from ..delivery import Platform
from ..handlers import is_coroutine_function, name_of
from ..limits import MAX_COUNT, checked_count, checked_delay
from ..world import World, current_world
from .batch import Batch, TimeBudget
from .records import delivery_of, records_of

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any, TypedDict

    from mypy_boto3_sqs import SQSClient

    from ..delivery import Counter
    from ..messages import Message
    from .batch import Drive

    class Failure(TypedDict):
        """One message that is to be delivered again."""

        itemIdentifier: str

    class Response(TypedDict):
        """What an event source mapping with ReportBatchItemFailures wants."""

        batchItemFailures: list[Failure]


LONGEST_DELAY = timedelta(seconds=900)
"""SQS delays a message by 15 minutes at most (Amazon SQS delay queues)."""

LONGEST_INVOCATION = timedelta(seconds=900)
"""A Lambda function runs for 15 minutes at most (Lambda quotas)."""


class SqsEndpoint:
    """A Lambda handler that gives each message of an SQS queue the whole ladder.

    Args:
        handler: your function, plain or coroutine; it gets one `Message`, and what it raises is recovered from.
        recoverability: the ladder.
        client: a boto3 SQS client, instead of the one made at the first failure.
        clock: gives the time, aware of its zone.
        counter: "native" to count by the broker's receive count; "header" to retry by copies that carry the count.
        concurrency: how many messages a coroutine handler works on at once.
        handler_timeout: how long it may work on one message; None for as long as the invocation allows.
        settle_within: the part of the invocation's time that is kept for settling.
        partial_responses: False where the event source mapping has no ReportBatchItemFailures: what is done with is then deleted here,
            and the invocation fails when anything is left.
        longest_delay: how long one copy waits; longer delays hop. Up to SQS's 15 minutes.

    Raises:
        TypeError: a handler that cannot be called, or a setting of another kind.
        ValueError: a setting out of range.
    """

    def __init__(
        self,
        handler: Callable[[Message], Any],
        recoverability: Recoverability = Recoverability(),
        *,
        client: SQSClient | None = None,
        clock: Callable[[], datetime] | None = None,
        counter: Counter = "native",
        concurrency: int = 1,
        handler_timeout: timedelta | None = None,
        settle_within: timedelta = timedelta(seconds=3),
        partial_responses: bool = True,
        longest_delay: timedelta = LONGEST_DELAY,
    ) -> None:
        if counter not in ("native", "header"):
            raise ValueError(f'SqsEndpoint(counter) is {counter!r}; write "native" or "header"')
        if checked_count("SqsEndpoint(concurrency)", concurrency, MAX_COUNT) < 1:
            raise ValueError(
                "SqsEndpoint(concurrency) is 0; write how many messages are worked on at once, from 1"
            )
        if handler_timeout is not None and not checked_delay(
            "SqsEndpoint(handler_timeout)", handler_timeout, LONGEST_INVOCATION
        ):
            raise ValueError("SqsEndpoint(handler_timeout) is 0; write how long a handler may run, or None")
        settle_within = checked_delay("SqsEndpoint(settle_within)", settle_within, LONGEST_INVOCATION)
        if not checked_delay("SqsEndpoint(longest_delay)", longest_delay, LONGEST_DELAY):
            raise ValueError(
                "SqsEndpoint(longest_delay) is 0; write how long one copy may wait, up to 15 minutes"
            )
        self._drive = driver(handler, concurrency)
        self._recoverability = with_error_queue(recoverability)
        self._world = World(client, clock or now, Alarm)
        self._partial_responses = partial_responses
        self._handler_timeout, self._settle_within = handler_timeout, settle_within
        self._standard = Platform(counter, longest_delay=longest_delay, host=host(), machine=machine())
        self._fifo = Platform(in_place=True, host=host(), machine=machine())
        self.__name__, self.__qualname__ = name_of(handler), name_of(handler)
        self.__doc__, self.__module__ = (
            getattr(handler, "__doc__", None),
            getattr(handler, "__module__", __name__),
        )

    def __call__(self, event: dict[str, Any], context: Any = None) -> Response:
        """Handle one batch.

        Args:
            event: what the event source mapping sends.
            context: Lambda's; without one there is no time limit.

        Returns:
            The messages that are to be delivered again.

        Raises:
            ValueError: the event is no SQS event; nothing is settled, all of it comes back.
            UnfinishedBatch: without partial responses, when a message is left.
        """
        queue, records = records_of(event)
        platform = self._fifo if queue.fifo else self._standard
        deliveries = [delivery_of(record, queue, self._recoverability, platform) for record in records]
        time = TimeBudget(context, self._settle_within)
        world = current_world.get() or self._world
        with world.alarm() as alarm:
            invocation = Invocation(
                self._recoverability,
                platform,
                world.clock,
                seconds_left=time.for_handlers,
                handler_timeout=self._handler_timeout,
                alarm=alarm,
            )
            batch = Batch(queue, self._drive, invocation, time, world.client, partial=self._partial_responses)
            left = batch.run(deliveries)
        if invocation.interruption is not None:
            raise invocation.interruption
        if left and not self._partial_responses:
            raise UnfinishedBatch(
                f"{len(left)} of {len(records)} messages of '{queue.name}' come back; the others are deleted"
            )
        return {
            "batchItemFailures": [
                {"itemIdentifier": delivery.message.native["messageId"]} for delivery in left
            ]
        }


class UnfinishedBatch(Exception):
    """Raised at the end of an invocation without partial responses: what is done with is deleted, the rest comes back."""


def driver(handler: Callable[[Message], Any], concurrency: int) -> Drive:
    """What runs a row of deliveries: one after the other, or for a coroutine handler so many at a time.

    Raises:
        TypeError: the handler is no function of one message.
        ValueError: a plain function cannot work on several messages at once.
    """
    if is_coroutine_function(handler):
        return lambda row, invocation: coroutine_driver()(handler, row, invocation, concurrency)
    if concurrency != 1:
        raise ValueError(
            f"SqsEndpoint(concurrency) is {concurrency}, and {name_of(handler)} is no coroutine; write async def, or leave it at 1"
        )
    return lambda row, invocation: [(delivery, attempt(handler, delivery, invocation)) for delivery in row]


def coroutine_driver() -> Callable[..., Any]:
    """The driver for coroutines, imported when there is one to drive."""
    from ..coroutines import attempts  # noqa: PLC0415

    return attempts


def with_error_queue(recoverability: Recoverability) -> Recoverability:
    """The settings with the error queue named: as given, else by the environment, else "error"."""
    if not isinstance(recoverability, Recoverability):
        raise TypeError(f"SqsEndpoint(recoverability) is {recoverability!r}; write Recoverability(...)")
    name = recoverability.failed.error_queue or os.environ.get("RECOVERABLE_ERROR_QUEUE") or "error"
    return recoverability.__replace__(failed=Failed(name, recoverability.failed.unrecoverable))


def host() -> str:
    """What operators know the function by."""
    return os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "local")


def machine() -> str:
    """What operators find this instance's log by."""
    return os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME", "local")
