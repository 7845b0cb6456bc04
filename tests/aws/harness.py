"""An event source mapping in miniature: it receives, invokes the endpoint in this process, and deletes what is not reported."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from time import monotonic
from typing import Any

from aws.records import event, received
from deadlines import eventually
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from servers.queues import Queue

PAUSE = 0.02
"""Seconds between two looks at a condition, or at a queue in which nothing was."""

POLLS = 50
"""Polls that follow each other as long as each finds a message."""

"""Seconds for what takes one or two on a machine of one's own."""

AMPLE = 60.0
"""Seconds kept for settling, of which a call may take half, and a quarter for its answer: a machine that stands still is no broker that does."""

AMPLE_TIME: dict[str, Any] = {"settle_within": timedelta(seconds=AMPLE), "visibility_timeout": timedelta(0)}
"""The settings of endpoints that keep as much, on queues whose messages a test shows again whenever it likes."""

Endpoint = Callable[[dict[str, Any], Any], Any]
Contexts = Callable[[], Any]


class Context:
    """Lambda's context, whose time a test sets."""

    def __init__(self, seconds: float = 10 * AMPLE) -> None:
        self.seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


class Countdown(Context):
    """Lambda's context with real time running."""

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return int((self._end - monotonic()) * 1000)


class NearTheEnd(Context):
    """Lambda's context of which almost all time is gone when handlers start; then it stands still, however slow the machine.

    Args:
        began: seconds that the invocation says it has when first asked.
        left: seconds left from then on; by default handlers have a fifth of a second, and settling has ample time.
    """

    def __init__(self, *, began: float = 10 * AMPLE, left: float = AMPLE + 0.2) -> None:
        super().__init__(began)
        self._left = left

    def get_remaining_time_in_millis(self) -> int:
        answer = super().get_remaining_time_in_millis()
        self.seconds = min(self.seconds, self._left)
        return answer


class Mapping:
    """An event source mapping with ReportBatchItemFailures.

    Args:
        queue: where it receives.
        endpoint: what it invokes.
        contexts: gives each invocation's context.
        batch: messages of one invocation at most.
        visibility: seconds for which what it receives is out of sight.
    """

    def __init__(
        self, queue: Queue, endpoint: Endpoint, *, contexts: Contexts = Context, batch: int = 10, visibility: int = 60
    ) -> None:
        self.queue, self._endpoint, self._contexts = queue, endpoint, contexts
        self._batch, self._visibility = batch, visibility
        self.raised: list[BaseException] = []
        self._kept: list[Any] = []

    def poll(self) -> list[str] | None:
        """Receive and invoke once. Return the bodies that were reported, or None when nothing was there."""
        messages = self.queue.receive(most=self._batch, visibility=self._visibility)
        if not messages:
            return None
        self._kept = list(messages)
        try:
            answer = self._endpoint(
                event(*(received(message, self.queue.arn) for message in messages)), self._contexts()
            )
        except BaseException as error:  # noqa: BLE001  # the whole batch stays, as on Lambda; the test looks at what was raised
            self.raised.append(error)
            return [message["Body"] for message in messages]
        reported = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        self._delete([message for message in messages if message["MessageId"] not in reported])
        self._kept = [message for message in messages if message["MessageId"] in reported]
        return [message["Body"] for message in self._kept]

    def expire(self) -> None:
        """Let the visibility timeout of what the last poll did not delete come to its end."""
        show_again(self.queue, self._kept)

    def run(self, until: Callable[[], bool]) -> None:
        """Poll until the condition holds."""
        wait_for(lambda: any(self.poll() is None for _ in range(POLLS)) and until())

    def run_dry(self) -> None:
        """Poll until the queue holds nothing, visible or not."""
        self.run(lambda: self.queue.count() == 0)

    def _delete(self, messages: list[Any]) -> None:
        entries: Any = [
            {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]} for number, message in enumerate(messages)
        ]
        if entries:
            self.queue.client.delete_message_batch(QueueUrl=self.queue.url, Entries=entries)


def lose_deliveries(queue: Queue, times: int) -> None:
    """Deliver all that is visible so often, without a recorded outcome."""
    for _ in range(times):
        messages: list[Any] = []
        while more := queue.receive():
            messages += more
        show_again(queue, messages)


def show_again(queue: Queue, messages: list[Any]) -> None:
    """Make received messages visible."""
    for message in messages:
        queue.client.change_message_visibility(
            QueueUrl=queue.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
        )


def compete(mappings: list[Mapping], until: Callable[[], bool]) -> None:
    """Let several instances poll, each in a thread of its own, until the condition holds."""
    over = Event()

    def work(mapping: Mapping) -> None:
        while not over.is_set():
            if mapping.poll() is None:
                over.wait(PAUSE)

    threads = [Thread(target=work, args=(mapping,)) for mapping in mappings]
    for thread in threads:
        thread.start()
    try:
        wait_for(until)
    finally:
        over.set()
        for thread in threads:
            thread.join()


def wait_for(condition: Callable[[], bool]) -> None:
    """Look until the condition holds."""
    eventually(condition, f"{condition}", every=PAUSE)


def sqs_endpoint(handler: Callable[[Message], Any], recoverability: Recoverability, **settings: Any) -> SqsEndpoint:
    """Return an endpoint that keeps ample time for settling, unless the test sets another."""
    return SqsEndpoint(handler, recoverability, **{**AMPLE_TIME, **settings})


def ladder(
    error: Queue | str, *, immediate: int = 0, delayed: int = 0, delay: float = 0, **more: Any
) -> Recoverability:
    """Return settings without retries unless the test sets some, and without delay."""
    name = error if isinstance(error, str) else error.name
    policy = more.pop("policy", None)
    return Recoverability(
        Immediate(immediate), Delayed(delayed, timedelta(seconds=delay)), Failed(name, **more), policy=policy
    )
