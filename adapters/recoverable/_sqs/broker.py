"""Call SQS: send, delete and change visibility in batches, and log what failed.

No other module of the endpoint calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.redaction import Redact, redactor_of
from recoverable._ladder.refused_sends import pauses
from recoverable._sqs import calls
from recoverable._sqs.answers import Failure, call_failure, describe_error, failures_in
from recoverable._sqs.clients import sns_client
from recoverable._sqs.clients import sqs_client as sqs_client  # noqa: PLC0414  # for those who give a client
from recoverable._sqs.operations import (
    CHANGE_VISIBILITY,
    DELETE,
    REPEAT_CHANGE,
    SEND,
    BatchOperation,
    log_failed_call,
    log_failed_copies,
)
from recoverable._sqs.queues import Queue
from recoverable.aws._copies import MAX_ENTRIES, Copy, Entry, without_faults
from recoverable.headers import FAILED_QUEUE_ADDRESS, LOG_STREAM, REQUEST_ID

if TYPE_CHECKING:
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.hosting import Environment

Item = tuple[Delivery, Entry]


class Destination(Protocol):
    """A queue or a topic."""

    @property
    def service(self) -> str:
        """Return the service that it is of, "sqs" or "sns"."""

    @property
    def region(self) -> str:
        """Return its region."""

    def url_at(self, endpoint: str) -> str:
        """Return what a client of that endpoint calls it."""


NO_TIME = Failure("unknown", "no time is left for the call")


class Sent(NamedTuple):
    """The result of sending copies.

    Args:
        confirmed: the deliveries whose copy SQS confirmed.
        failed: the other copies, and why they failed.
    """

    confirmed: list[Delivery]
    failed: list[tuple[Copy, Failure]]


class Broker:
    """A queue's broker, SQS, with the calls that settling needs.

    Args:
        queue: the queue that the messages came from.
        environment: has the user's client; None for the process's own.
        time: the invocation's.
    """

    def __init__(self, queue: Queue, environment: Environment, time: TimeBudget) -> None:
        self.queue, self.time = queue, time
        self._client, self._topic_client = environment.client, environment.topic_client
        self._clients: dict[tuple[str, str], Any] = {}
        self._call_within, self._sleep = environment.call_within or calls.call_within, environment.sleep

    def where(self, delivery: Delivery) -> dict[str, str]:
        """Return the headers that say where a message failed: its queue, the request, and the log stream of its last attempt."""
        context = self.time.context
        found = {
            FAILED_QUEUE_ADDRESS: delivery.native["eventSourceARN"],
            REQUEST_ID: getattr(context, "aws_request_id", None),
            LOG_STREAM: getattr(context, "log_stream_name", None),
        }
        return {name: text for name, text in found.items() if isinstance(text, str) and text}

    def send(self, batch: list[Copy]) -> Sent:
        """Send a batch of copies to their queue.

        What SQS cannot take at the moment is sent again, after growing pauses while time is left. A lost answer is not repeated: it
        would make a second copy of what was taken.
        """
        sent = self._send_once(batch)
        for pause in pauses(self.time.pauses_left):
            busy = [copy for copy, failure in sent.failed if failure.kind == "busy"]
            if not busy or not self.wait(pause):
                break
            again = self._send_once(busy)
            rest = [each for each in sent.failed if each[1].kind != "busy"]
            sent = Sent(sent.confirmed + again.confirmed, rest + again.failed)
        log_failed_copies(sent.failed, self.queue, redactor_in(self.time))
        return sent

    def wait(self, seconds: float) -> bool:
        """Wait before a call is repeated; return False where no time is left for that."""
        if self.time.before_call() <= seconds:
            return False
        self._sleep(seconds)
        self.time.pauses_left -= seconds
        return True

    def _send_once(self, batch: list[Copy]) -> Sent:
        """Send copies by one call; what is refused for one of them is sent again without it.

        A refused batch is resent one by one, for one bad entry must not hold back nine good ones. A queue may take smaller messages
        than SQS's limit (`MaximumMessageSize`): a copy that is too large is resent without the fault headers that may be trimmed.
        """
        failures, as_a_whole = self.call(SEND, batch[0].to, [copy.entry for copy in batch])
        if as_a_whole and len(batch) > 1 and failures[0].kind in {"refused", "size"}:
            each = [self._send_once([copy]) for copy in batch]
            return Sent([d for sent in each for d in sent.confirmed], [f for sent in each for f in sent.failed])
        smaller = {
            n: copy for n, each in failures.items() if each.kind == "size" and (copy := without_faults(batch[n]))
        }
        again = self._send_once(list(smaller.values())) if smaller else Sent([], [])
        confirmed = [copy.delivery for n, copy in enumerate(batch) if n not in failures]
        failed = [(batch[n], failure) for n, failure in failures.items() if n not in smaller]
        return Sent(confirmed + again.confirmed, failed + again.failed)

    def delete(self, deliveries: list[Delivery]) -> list[Delivery]:
        """Delete the messages, and return those for which that is confirmed."""
        return self._call_in_batches(DELETE, [(delivery, receipt(delivery)) for delivery in deliveries])

    def change_visibility(self, deliveries: list[tuple[Delivery, int]]) -> None:
        """Have each message redelivered after its number of seconds.

        What is not confirmed is repeated once: nothing else remembers the delay of a message that is only redelivered.
        """
        items = [(delivery, {**receipt(delivery), "VisibilityTimeout": after}) for delivery, after in deliveries]
        changed = set(self._call_in_batches(CHANGE_VISIBILITY, items))
        self._call_in_batches(REPEAT_CHANGE, [item for item in items if item[0] not in changed])

    def _call_in_batches(self, operation: BatchOperation, items: list[Item]) -> list[Delivery]:
        """Make the calls, log what failed, and return the deliveries for which they are confirmed."""
        heartbeat = self.time.invocation.heartbeat if self.time.invocation else None
        confirmed: list[Delivery] = []
        for start in range(0, len(items), MAX_ENTRIES):
            batch = items[start : start + MAX_ENTRIES]
            if heartbeat is not None:
                heartbeat.end([delivery for delivery, _ in batch])
            failures, _ = self.call(operation, self.queue, [entry for _, entry in batch])
            confirmed += [delivery for n, (delivery, _) in enumerate(batch) if n not in failures]
            if failures:
                reasons = "; ".join(sorted({failure.reason for failure in failures.values()}))
                missed = [batch[n][0] for n in failures]
                log_failed_call(operation, self.queue, missed, reasons, redactor_in(self.time))
        return confirmed

    def call(self, operation: BatchOperation, to: Destination, entries: list[Entry]) -> tuple[dict[int, Failure], bool]:
        """Make one call; return the failures by the numbers of the entries, and True if the call failed as a whole."""
        if not self.time.for_call():
            return dict.fromkeys(range(len(entries)), NO_TIME), True
        numbered = [{"Id": str(n), **entry} for n, entry in enumerate(entries)]
        try:
            client = self.client_for(to)
            url = to.url_at(client.meta.endpoint_url)
            answer = self._call_within(self.time.call_timeout, lambda: operation.call(client, url, numbered))
        except Exception as error:  # noqa: BLE001  # logged by the caller, and nothing is confirmed
            return dict.fromkeys(range(len(entries)), call_failure(error, describe_error(error))), True
        finally:
            self.time.note_call()
        return failures_in(answer, len(entries)), False

    def client_for(self, to: Destination) -> Any:
        """Return the client; making one may take all the time but that of a call, for reading boto3 is slow on a small function."""
        given, make = (self._client, sqs_client) if to.service == "sqs" else (self._topic_client, sns_client)
        if given is not None:
            return given
        known = to.service, to.region
        if known not in self._clients:  # a thread is started to ask for one
            seconds, timeout = self.time.before_call(), self.time.call_timeout
            self._clients[known] = self._call_within(seconds, lambda: make(to.region, timeout))
        return self._clients[known]


def redactor_in(time: TimeBudget) -> Redact | None:
    """Return the redactor of the endpoint whose invocation has this time: what a broker answers may quote what was sent."""
    return None if time.invocation is None else redactor_of(time.invocation.recoverability)


def receipt(delivery: Delivery) -> Entry:
    """Return the fields of an entry by which SQS knows this delivery."""
    return {"ReceiptHandle": delivery.native["receiptHandle"]}
