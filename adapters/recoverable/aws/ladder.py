"""The ladder on SQS: its settings, checked, and one batch sent through it; what the endpoint and other front doors share."""

from __future__ import annotations

import functools
import os
from datetime import timedelta

from ..alarm import Alarm
from ..attempt import Invocation, now
from ..config import Failed, Recoverability
from ..delivery import Platform
from ..limits import checked_delay
from ..world import World, current_world
from .batch import LONGEST_INVOCATION, Batch, TimeBudget
from .queues import queue_from_arn
from .records import delivery_of, records_of

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any, TypedDict

    from mypy_boto3_sqs import SQSClient

    from ..breaker import Breaker
    from ..delivery import Counter, Delivery
    from ..gate import Gate
    from ..timeouts import Timeouts
    from .batch import Drive
    from .client import Broker
    from .queues import Queue

    class Failure(TypedDict):
        """One message that is to be delivered again."""

        itemIdentifier: str

    class Response(TypedDict):
        """What an event source mapping with ReportBatchItemFailures wants."""

        batchItemFailures: list[Failure]


LONGEST_DELAY = timedelta(seconds=900)
"""SQS delays a message by 15 minutes at most (Amazon SQS delay queues)."""

SETTLE_WITHIN = timedelta(seconds=3)
"""What is kept of an invocation's time for settling, unless said otherwise."""


class Ladder:
    """What a front door was given, checked; it changes with no invocation. `recoverability` has its error queue resolved.

    Args:
        door: the name of the class that was given it, for errors.
        recoverability: the ladder.
        client: see `SqsEndpoint`, as for the rest.
        clock: gives the time.
        counter: "native" or "header".
        handler_timeout: how long a handler may work on one message.
        settle_within: the time kept for settling.
        longest_delay: how long one copy waits.
        timeouts: where what must wait longer is stored; None for hops.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range.
    """

    def __init__(
        self,
        door: str,
        recoverability: Recoverability,
        *,
        client: SQSClient | None,
        clock: Callable[[], datetime] | None,
        counter: Counter,
        handler_timeout: timedelta | None,
        settle_within: timedelta,
        longest_delay: timedelta,
        timeouts: Timeouts | None = None,
    ) -> None:
        if counter not in ("native", "header"):
            raise ValueError(f'{door}(counter) is {counter!r}; write "native" or "header"')
        if handler_timeout is not None and not checked_delay(
            f"{door}(handler_timeout)", handler_timeout, LONGEST_INVOCATION
        ):
            raise ValueError(f"{door}(handler_timeout) is 0; write how long a handler may run, or None")
        if not checked_delay(f"{door}(longest_delay)", longest_delay, LONGEST_DELAY):
            raise ValueError(
                f"{door}(longest_delay) is 0; write how long one copy may wait, up to 15 minutes"
            )
        self._settle_within = checked_delay(f"{door}(settle_within)", settle_within, LONGEST_INVOCATION)
        self._handler_timeout = handler_timeout
        self.recoverability = with_error_queue(door, recoverability)
        self._world = World(client, clock or now, Alarm)
        if timeouts is not None and not hasattr(timeouts, "hold"):
            raise TypeError(f"{door}(timeouts) is {timeouts!r}; write Timeouts(store), or None")
        if timeouts is not None and settle_within < timeouts.longest_hold:
            raise ValueError(
                f"{door}(settle_within) is {settle_within}; with timeouts write at least {timeouts.longest_hold}, for a store that does not answer takes as long"
            )
        self._timeouts = timeouts
        self._standard = Platform(counter, longest_delay=longest_delay, host=host(), machine=machine())
        self._fifo = Platform(in_place=True, host=host(), machine=machine())

    def climb(
        self, event: dict[str, Any], context: Any, drive: Drive, *, partial: bool = True
    ) -> list[Delivery]:
        """Send one batch through: attempts, then settling.

        Args:
            event: what the event source mapping sends.
            context: Lambda's; without one there is no time limit.
            drive: runs a row of deliveries.
            partial: whether the event source mapping deletes what is not reported.

        Returns:
            What is not done with, and is to be delivered again.

        Raises:
            ValueError: the event is no SQS event; nothing is settled, all of it comes back.
        """
        queue, records = records_of(event)
        platform = self._fifo if queue.fifo else self._standard
        deliveries = [delivery_of(record, queue, self.recoverability, platform) for record in records]
        time = TimeBudget(context, self._settle_within)
        world = current_world.get() or self._world
        with world.alarm() as alarm:
            invocation = Invocation(
                self.recoverability,
                platform,
                world.clock,
                seconds_left=time.for_handlers,
                handler_timeout=self._handler_timeout,
                alarm=alarm,
                gate=self._gate(world, holds=not queue.fifo),
            )
            broker = functools.partial(self._broker, queue, time, world.client)
            left = Batch(queue, drive, invocation, time, broker, partial=partial).run(deliveries)
        if invocation.interruption is not None:
            raise invocation.interruption
        return left

    def _broker(self, queue: Queue, time: TimeBudget, own: SQSClient | None) -> Broker:
        from .client import Broker, sqs_client  # noqa: PLC0415  # the failure side

        def client_for(region: str) -> SQSClient:
            return own or sqs_client(region, time.patience)

        return Broker(queue, client_for, time.for_call, self._timeouts)

    @property
    def breaker(self) -> Breaker | None:
        """What this instance knows of the circuit that limits the rate; None where nothing does."""
        gate = self._gate(current_world.get() or self._world, holds=True)
        return gate.breaker if gate else None

    def _gate(self, world: World, *, holds: bool) -> Gate | None:
        if self.recoverability.rate_limit is None:
            return None
        from ..gate import gate_for  # noqa: PLC0415  # imported for those who limit the rate

        return gate_for(self, self.recoverability.rate_limit, self.recoverability, world, holds=holds)


def response(left: list[Delivery]) -> Response:
    """What the event source mapping is told: the messages that are to be delivered again."""
    return {
        "batchItemFailures": [{"itemIdentifier": delivery.message.native["messageId"]} for delivery in left]
    }


def with_error_queue(door: str, recoverability: Recoverability) -> Recoverability:
    """The settings with the error queue named: as given, else by the environment, else "error".

    Raises:
        TypeError: no settings.
        ValueError: the error queue is an ARN, but not of an SQS queue: told now, not when the first message fails.
    """
    if not isinstance(recoverability, Recoverability):
        raise TypeError(f"{door}(recoverability) is {recoverability!r}; write Recoverability(...)")
    name = recoverability.failed.error_queue or os.environ.get("RECOVERABLE_ERROR_QUEUE") or "error"
    if name.startswith("arn:"):
        queue_from_arn(name)
    return recoverability.__replace__(failed=Failed(name, recoverability.failed.unrecoverable))


def host() -> str:
    """What operators know the function by."""
    return os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "local")


def machine() -> str:
    """What operators find this instance's log by."""
    return os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME", "local")
