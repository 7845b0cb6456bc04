"""Handle Lambda's SQS events: event → messages → attempts → settling → response."""

from __future__ import annotations

from functools import partial

from recoverable._config import Recoverability
from recoverable._flow.flow import attempt_all, attempt_each, coroutines
from recoverable._flow.handlers import is_coroutine_handler
from recoverable._limits import MAX_COUNT, checked_count, name_of
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable.aws._batch import SqsProcessor, behind, response
from recoverable.aws._settings import SETTLE_WITHIN, SqsSettings

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime, timedelta
    from typing import Any

    from mypy_boto3_sqs import SQSClient

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.settlement import Counter
    from recoverable._message import Message
    from recoverable._rate_limit.store import Breaker
    from recoverable.aws._batch import Response, RunHandlers
    from recoverable.timeouts import Timeouts


class SqsEndpoint:
    """A Lambda handler that gives each message of an SQS queue immediate retries, delayed retries and an error queue.

    Args:
        handler: your function, plain or coroutine; it gets one `Message`, and each exception that it raises is a failed
            attempt.
        recoverability: the settings for retries and the error queue.
        client: a boto3 SQS client, instead of the ones made at the first failure: for the region of both queues, and
            one that tries each call once: `Config(retries={"total_max_attempts": 1, "mode": "standard"})`.
        clock: returns the time; without a zone, that of the machine.
        counter: "native" to count by the broker's receive count; "header" to retry by copies that carry the count.
        concurrency: how many messages a coroutine handler works on at once.
        handler_timeout: how long it may work on one message; None for as long as the invocation allows.
        settle_within: the part of the invocation's time that is kept for settling.
        partial_responses: False where the event source mapping has no ReportBatchItemFailures: completed messages are
            then deleted here, and the invocation fails when any other remains.
        longest_delay: how long one copy waits; longer delays hop. Up to SQS's 15 minutes.
        timeouts: stores longer delays instead, until a dispatcher sends them: `Timeouts(store)`.
        visibility_timeout: the shortest time for which anything hides a message that was received; None for what SQS
            says of the queue, and the function's time-out where SQS may not be asked. Write less, down to 0, where
            other code changes it: redelivered messages that are older then run one by one.
        retention: for how long the queue keeps a message, 1 minute to 14 days; None for what SQS says, and 4 days where
            it may not be asked. A message that waits in its place moves to the error queue before it would expire.
        warm: True to make the SQS client when the endpoint is made, for handlers that send: else the first
            `Message.send` of an instance waits for it.
        extensions: what watches or feeds it, of `recoverable.extensions` or your own: `(Heartbeat(timedelta(minutes=2)),)`.

    Raises:
        TypeError: a handler that cannot be called, or a setting of another kind.
        ValueError: a setting out of range.
    """

    def __init__(  # noqa: PLR0913  # each setting has a name
        self,
        handler: Callable[[Message], Any],
        recoverability: Recoverability = Recoverability(),
        *,
        client: SQSClient | None = None,
        clock: Callable[[], datetime] | None = None,
        counter: Counter = "native",
        concurrency: int = 1,
        handler_timeout: timedelta | None = None,
        settle_within: timedelta = SETTLE_WITHIN,
        partial_responses: bool = True,
        longest_delay: timedelta = LONGEST_DELAY,
        timeouts: Timeouts | None = None,
        visibility_timeout: timedelta | None = None,
        retention: timedelta | None = None,
        warm: bool = False,
        extensions: tuple[object, ...] = (),
    ) -> None:
        is_coroutine = is_coroutine_handler(handler)
        check_concurrency(concurrency, handler, is_coroutine=is_coroutine)
        plain: RunHandlers = partial(attempt_all, handler=handler)
        self._run_handlers = partial(run_coroutines, handler, concurrency) if is_coroutine else plain
        self._partial_responses = partial_responses
        settings = SqsSettings(
            "SqsEndpoint", recoverability, client=client, clock=clock, counter=counter,
            handler_timeout=handler_timeout, settle_within=settle_within, longest_delay=longest_delay, timeouts=timeouts,
            visibility_timeout=visibility_timeout, retention=retention, extensions=extensions,
        )  # fmt: skip
        self._processor = SqsProcessor(settings)
        if warm and client is None:
            behind().warm_up(settle_within)
        # with the error queue resolved, for code that creates queues
        self.recoverability = settings.recoverability
        self.__name__ = self.__qualname__ = name_of(handler)
        self.__doc__ = getattr(handler, "__doc__", None)
        self.__module__ = getattr(handler, "__module__", __name__)

    @property
    def breaker(self) -> Breaker | None:
        """Return this instance's state of the circuit that limits the rate, for a probe; None without a `RateLimit`."""
        return self._processor.breaker

    def __call__(self, event: dict[str, Any], context: Any = None) -> Response:
        """Handle one batch.

        Args:
            event: what the event source mapping sends.
            context: Lambda's; without one there is no time limit.

        Returns:
            The messages that are to be delivered again.

        Raises:
            ValueError: the event is no SQS event; nothing is settled, and all of its messages are redelivered.
            UnfinishedBatch: without partial responses, when a message is not completed.
        """
        unfinished = self._processor.process(event, context, self._run_handlers, partial=self._partial_responses)
        if unfinished and not self._partial_responses:
            raise UnfinishedBatch(
                f"{len(unfinished)} of {len(event['Records'])} messages of '{unfinished[0].message.queue}' will be redelivered; the others are deleted"
            )
        return response(unfinished)


def run_coroutines(
    handler: Callable[[Message], Any], concurrency: int, group: Iterator[Message], invocation: Invocation
) -> None:
    """Take a group of messages through the flow with a coroutine handler, so many at a time."""
    coroutines().attempt_concurrently(attempt_each, handler, group, invocation, concurrency)


def check_concurrency(concurrency: object, handler: object, *, is_coroutine: bool) -> None:
    """Check how many messages an endpoint works on at once.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is out of range, or a plain function cannot work on several messages at once.
    """
    checked_count("SqsEndpoint(concurrency)", concurrency, MAX_COUNT, least=1)
    if concurrency != 1 and not is_coroutine:
        raise ValueError(
            f"SqsEndpoint(concurrency) is {concurrency}, and {name_of(handler)} is no coroutine; write async def, or leave it at 1"
        )


class UnfinishedBatch(Exception):
    """Raised at the end of an invocation without partial responses.

    Completed messages are deleted, the others are redelivered.
    """

    __module__ = "recoverable.aws"  # the name under which users import it
