"""Call SQS and SNS within the time of an invocation: each call is bounded as a whole, and what they cannot take at the moment is sent again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recoverable._sqs.answers import Failure, call_failure
from recoverable._sqs.attributes import NAMES, attributes_in
from recoverable._sqs.batches import BatchOperation, Entry, Result, batch_failures, call_batch, send_singly
from recoverable._sqs.clients import client as process_client
from recoverable._sqs.clock import SqsClock

if TYPE_CHECKING:
    from recoverable._sqs.attributes import QueueAttributes
    from recoverable._sqs.names import Destination
    from recoverable._sqs.queues import Queue
    from recoverable.hosting import Environment

T = TypeVar("T")

NO_TIME = Failure("busy", "", "no time is left for the call")


class CallTime(Protocol):
    """The time that an invocation has for calls.

    Args:
        pauses_left: seconds that may still be waited until the broker takes more.
    """

    pauses_left: float

    @property
    def call_timeout(self) -> float:
        """Return the seconds that one call may take."""

    def before_call(self) -> float:
        """Return the seconds that are left for what comes before a call; less than 0 when there is no time for one."""

    def note_call(self) -> None:
        """Note that the call has ended for which `before_call` was asked last."""


class Broker:
    """SQS, and SNS beside it, as an invocation calls them.

    Args:
        queue: the queue that the messages came from.
        environment: has the user's client; None for the process's own.
        time: the invocation's.
    """

    def __init__(self, queue: Queue, environment: Environment, time: CallTime) -> None:
        self.queue, self._time = queue, time
        self._given = {"sqs": environment.client, "sns": environment.topic_client}
        self._clients: dict[tuple[str, str], Any] = {}
        self._call_within, self._sleep = environment.call_within or call_within, environment.sleep
        self.clock = SqsClock(environment)

    def call(self, operation: BatchOperation, to: Destination, entries: Sequence[Entry]) -> Result:
        """Make one call; one for which no time is left fails as a whole."""
        answer = self._answer(to, lambda client, url: call_batch(client, operation, url, entries))
        if isinstance(answer, Failure):
            return Result(dict.fromkeys(range(len(entries)), answer), as_a_whole=True)
        return Result(batch_failures(answer, len(entries)))

    def attributes(self) -> QueueAttributes | Failure:
        """Ask SQS what the queue is set to."""
        answer = self._answer(
            self.queue, lambda client, url: client.get_queue_attributes(QueueUrl=url, AttributeNames=list(NAMES))
        )
        return answer if isinstance(answer, Failure) else attributes_in(answer)

    def _answer(self, to: Destination, call: Callable[[Any, str], Any]) -> Any:
        """Return the answer to a call, or the `Failure` of one that raised, or for which no time is left: then nothing is confirmed.

        Args:
            to: where.
            call: makes it, given the client and the destination's URL or ARN.
        """
        if self._time.before_call() <= 0:
            return NO_TIME
        try:
            client = self.client_for(to)
            url = to.url_at(client.meta.endpoint_url)
            answer = self._call_within(self._time.call_timeout, lambda: call(client, url))
        except Exception as error:  # noqa: BLE001  # the failure holds it
            self.clock.note(getattr(error, "response", None))
            return call_failure(error)
        else:
            self.clock.note(answer)
            return answer
        finally:
            self._time.note_call()

    def send(
        self,
        operation: BatchOperation,
        to: Destination,
        entries: Sequence[Entry],
        pauses: Callable[[float], Iterable[float]],
    ) -> dict[int, Failure]:
        """Send a batch, and return the failures by number.

        Entries that SQS cannot take at the moment are sent again after each pause, while time is left. A call without
        an answer is not repeated: it would make a second copy of what SQS took.

        Args:
            operation: SendMessageBatch or PublishBatch.
            to: where.
            entries: what is sent.
            pauses: yields the seconds before each repetition, given how many may be waited in all.
        """
        result = self.call(operation, to, entries)
        if not result.failures:
            return result.failures
        call = partial(self.call, operation, to)
        failures = send_singly(result, call, entries)
        for pause in pauses(self._time.pauses_left):
            again = [number for number, failure in failures.items() if failure.may_repeat]
            if not again or not self._wait(pause):
                break
            busy = [entries[number] for number in again]
            repeated = send_singly(call(busy), call, busy)
            failures = {number: each for number, each in failures.items() if number not in again} | {
                again[number]: each for number, each in repeated.items()
            }
        return failures

    def _wait(self, seconds: float) -> bool:
        """Wait before a call is repeated; return False where no time is left for that."""
        if self._time.before_call() <= seconds:
            return False
        self._sleep(seconds)
        self._time.pauses_left -= seconds
        return True

    def client_for(self, to: Destination) -> Any:
        """Return the client; making one may take all the time but that of a call, for reading boto3 is slow on a small function."""
        if (given := self._given[to.service]) is not None:
            return given
        known = to.service, to.region
        if known not in self._clients:  # a thread is started to ask for one
            seconds, timeout = self._time.before_call(), self._time.call_timeout
            self._clients[known] = self._call_within(seconds, lambda: process_client(*known, timeout))
        return self._clients[known]


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Return the result of a call, made in a thread of its own.

    Looking up a name, trying several addresses and agreeing on TLS have no time-out that an SDK's settings reach. A
    call that does not end in time is abandoned: it may still succeed later. It holds up neither the calls after it nor
    the end of the process.

    Args:
        seconds: how long to wait for the result.
        call: the call.

    Raises:
        TimeoutError: there is no result in time. Exceptions of the call are raised as they are.
    """
    from concurrent.futures import Future  # dear at cold start

    future: Future[T] = Future()
    context = copy_context()  # tracing finds its span there

    def run() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001  # raised where the result is waited for
            future.set_exception(error)

    Thread(target=run, name="recoverable-call", daemon=True).start()
    return future.result(seconds)
