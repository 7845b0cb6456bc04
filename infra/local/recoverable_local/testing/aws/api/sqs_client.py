"""Offer the world's SQS client: boto3's interface, answers and errors, without boto3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

from recoverable_local.testing.aws.api import administration
from recoverable_local.testing.aws.api import operations as api
from recoverable_local.testing.aws.api.client import Exceptions, client_error, connection_error, metadata
from recoverable_local.testing.aws.broker.queues import ENDPOINT, REGION
from recoverable_local.testing.aws.broker.refusals import Refusal
from recoverable_local.testing.engine.connection import Connection
from recoverable_local.testing.engine.fault_plan import FaultPlan, When
from recoverable_local.testing.engine.invocation import Invocation, current_invocation
from recoverable_local.testing.faults import (
    AnswerLost,
    ConnectionReset,
    Fault,
    PartlyFailed,
    Refused,
    Throttled,
    Unreachable,
)
from recoverable_local.testing.timeline import Journal

OPERATIONS: dict[str, api.Operation] = {
    operation.__name__: operation
    for operation in (
        api.change_message_visibility,
        api.change_message_visibility_batch,
        administration.create_queue,
        api.delete_message,
        api.delete_message_batch,
        administration.delete_queue,
        administration.get_queue_attributes,
        administration.get_queue_url,
        administration.list_dead_letter_source_queues,
        administration.list_queues,
        administration.purge_queue,
        api.receive_message,
        api.send_message,
        api.send_message_batch,
        administration.set_queue_attributes,
    )
}


THROTTLED = Refusal("RequestThrottled", "The request was denied due to request throttling.", status=403)

NO_ANSWER: Mapping[type[Fault], str] = {
    AnswerLost: "ReadTimeoutError",
    ConnectionReset: "ConnectionClosedError",
    Unreachable: "EndpointConnectionError",
}
"""The names of botocore's errors for calls that get no answer."""


class Client:
    """An SQS client that talks to the world's broker.

    Args:
        broker: the broker.
        fault_plan: decides which faults happen in the calls of functions.
        journal: records calls that failed.
        wait: lets time pass while somebody receives outside a function.
        now: returns the world's time, which dates the answers.
        connection: the client's own.
    """

    service = "SQS"
    operations: ClassVar[Mapping[str, Callable[[Any, api.Request], api.Answer]]] = OPERATIONS
    meta = SimpleNamespace(endpoint_url=ENDPOINT, region_name=REGION, service_model=SimpleNamespace(service_name="sqs"))

    def __init__(
        self,
        broker: Any,
        fault_plan: FaultPlan,
        journal: Journal,
        wait: Callable[[float], None],
        now: Callable[[], datetime],
        connection: Connection,
    ) -> None:
        self._broker, self._fault_plan, self._journal, self._wait = broker, fault_plan, journal, wait
        self._now, self._connection = now, connection
        self.exceptions = Exceptions()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.operations:
            known = ", ".join(sorted(self.operations))
            raise AttributeError(f"the world's {self.service} client has no {name!r}; it has {known}")
        call = partial(self._call, name)
        setattr(self, name, call)
        return call

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _call(self, operation: str, **request: Any) -> Any:
        invocation = current_invocation.get()
        if invocation is None:
            return self._perform(operation, request)
        invocation.check_alive()
        fault = self._fault("before", operation, request, invocation)
        if fault is None and self._connection.is_forgotten():
            fault = self._noted(ConnectionReset(), operation, request, invocation)
        answer = self._call_with_fault(fault, operation, request, invocation)
        if isinstance(fault := self._fault("after", operation, request, invocation), AnswerLost):
            raise self._no_answer(fault)
        invocation.apply_fault(fault)
        return answer

    def _call_with_fault(self, fault: Fault | None, operation: str, request: Any, invocation: Invocation) -> Any:
        """Make the call while this fault happens."""
        self._connection.use()
        match fault:
            case None:
                return self._perform(operation, request)
            case Refused(code, message, status):
                raise client_error(Refusal(code, message, status=status), operation, self._now())
            case Throttled():
                raise client_error(THROTTLED, operation, self._now())
            case Unreachable() | AnswerLost() | ConnectionReset():
                if isinstance(fault, AnswerLost) or fault == ConnectionReset(done=True):
                    self._perform(operation, request)
                raise self._no_answer(fault)
            case PartlyFailed(places, code):
                return self._perform_partly(operation, request, places, code)
            case _:
                invocation.apply_fault(fault)
                return self._perform(operation, request)

    def _no_answer(self, fault: Fault) -> Exception:
        """Close the connection, and return the error of a call that got no answer."""
        self._connection.close()
        return connection_error(NO_ANSWER[type(fault)])

    def _perform(self, operation: str, request: Any) -> Any:
        try:
            if operation == "receive_message":
                self._wait_for_messages(request)
            answer = self.operations[operation](self._broker, request)
        except Refusal as refusal:
            if (invocation := current_invocation.get()) is not None:
                self._note(invocation, queue_in(request), f"{operation}: {refusal.shape}: {refusal.message}")
            raise client_error(refusal, operation, self._now()) from None
        return answer | {"ResponseMetadata": metadata(200, self._now())}

    def _perform_partly(self, operation: str, request: Any, places: tuple[int, ...], code: str) -> Any:
        listed = "Entries" if "Entries" in request else "PublishBatchRequestEntries"
        entries = request[listed]
        good = [entry for place, entry in enumerate(entries) if place not in places]
        answer = self._perform(operation, {**request, listed: good}) if good else {}
        error = {"SenderFault": False, "Code": code, "Message": "Failed by the test."}
        failed = [{"Id": entry["Id"], **error} for entry in entries if entry not in good]
        return {**answer, "Failed": [*answer.get("Failed", ()), *failed]}

    def _fault(self, when: When, operation: str, request: Any, invocation: Invocation) -> Fault | None:
        queue = queue_in(request)
        fault = self._fault_plan.fault_at(when, operation, queue, invocation.message_ids, invocation.number)
        return fault and self._noted(fault, operation, request, invocation)

    def _noted(self, fault: Fault, operation: str, request: Any, invocation: Invocation) -> Fault:
        """Write a fault into the journal, and return it."""
        self._note(invocation, queue_in(request), f"{operation}: {fault}")
        return fault

    def _note(self, invocation: Invocation, queue: str, detail: str) -> None:
        for message_id in invocation.message_ids:
            self._journal.note("call failed", queue, message_id, detail)

    def _wait_for_messages(self, request: Any) -> None:
        """Let time pass until a message is visible or the wait is over (long polling)."""
        queue = api.queue_of(self._broker, request)
        longest = request.get("WaitTimeSeconds", queue.settings.wait)
        seconds = min(queue.order.next_at() - self._broker.now(), longest)
        if seconds > 0:
            invocation = current_invocation.get()
            (invocation.spend if invocation else self._wait)(seconds)


def queue_in(request: dict[str, Any]) -> str:
    """Return the name of the request's queue or topic; empty for a request about none."""
    return str(request.get("QueueUrl", "")).rpartition("/")[2] or str(request.get("TopicArn", "")).rpartition(":")[2]
