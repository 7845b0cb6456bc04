"""Answer StartMessageMoveTask and ListMessageMoveTasks, which moto lacks, before moto's own application.

A task moves everything at once. Without a destination each message goes to the queue from which SQS moved it; at a message
that was *sent* to the dead-letter queue, such as an error copy, the task fails, as in SQS, because nothing says where it belongs.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import uuid4

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sqs.models import Queue, sqs_backends

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]

PREFIX = "AmazonSQS."
UNKNOWN_SOURCE = "CouldNotDetermineMessageSource"
MOST_LISTED = 10
"""Tasks that are listed at most (ListMessageMoveTasks)."""


class RefusedTask(Exception):
    """Raised when SQS would refuse the call.

    Args:
        code: SQS's error code.
        text: SQS's text.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class MoveTasks:
    """Passes calls on, and answers those about move tasks itself.

    Args:
        application: moto's.
    """

    def __init__(self, application: Wsgi) -> None:
        self._application = application
        self._tasks: list[dict[str, Any]] = []

    def __call__(self, environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        operation = str(environment.get("HTTP_X_AMZ_TARGET", "")).removeprefix(PREFIX)
        if operation not in ("StartMessageMoveTask", "ListMessageMoveTasks"):
            return self._application(environment, start_response)
        body = environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
        request = json.loads(body or b"{}")
        try:
            answer = self._start(request) if operation == "StartMessageMoveTask" else self._list(request)
        except RefusedTask as refused:
            return respond(start_response, "400 Bad Request", {"__type": refused.code, "message": str(refused)})
        return respond(start_response, "200 OK", answer)

    def _start(self, request: Mapping[str, Any]) -> dict[str, Any]:
        source_arn, to_arn = str(request.get("SourceArn", "")), request.get("DestinationArn")
        source = queue_of(source_arn)
        queues = sqs_backends[DEFAULT_ACCOUNT_ID][source.region].queues
        if not any(queue.dead_letter_queue is source for queue in queues.values()):
            raise RefusedTask("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
        to = None if to_arn is None else queue_of(str(to_arn))
        task = {"SourceArn": source_arn, "TaskHandle": str(uuid4()), "Status": "COMPLETED"}
        if to_arn is not None:
            task["DestinationArn"] = to_arn
        messages = list(source.messages)
        moved = 0
        for message in messages:
            target = to or queues.get(str(getattr(message, "dead_letter_source", None)).rpartition(":")[2])
            if target is None:
                task |= {"Status": "FAILED", "FailureReason": UNKNOWN_SOURCE}
                break
            move(message, source, target)
            moved += 1
        counts = {"ApproximateNumberOfMessagesMoved": moved, "ApproximateNumberOfMessagesToMove": len(messages)}
        self._tasks.insert(0, {**task, **counts})
        return {"TaskHandle": task["TaskHandle"]}

    def _list(self, request: Mapping[str, Any]) -> dict[str, Any]:
        found = [task for task in self._tasks if task["SourceArn"] == request.get("SourceArn")]
        most = min(int(request.get("MaxResults", 1)), MOST_LISTED)
        return {"Results": [{name: each[name] for name in each if name != "TaskHandle"} for each in found[:most]]}


def queue_of(arn: str) -> Queue:
    """Return moto's queue of an ARN.

    Raises:
        RefusedTask: there is none.
    """
    parts = arn.split(":")
    queue = sqs_backends[DEFAULT_ACCOUNT_ID][parts[3]].queues.get(parts[5]) if len(parts) == 6 else None  # noqa: PLR2004  # an ARN's parts
    if queue is None:
        raise RefusedTask(
            "ResourceNotFoundException", "The resource that you specified for the SourceArn parameter doesn't exist."
        )
    return queue


def move(message: Any, source: Queue, target: Queue) -> None:
    """Move a message: with a new id and enqueue time, as if it was never received."""
    moved = copy.copy(message)
    moved.id, moved.approximate_receive_count, moved.approximate_first_receive_timestamp = str(uuid4()), 0, None
    moved.receipt_handle, moved.visible_at, moved.home = None, 0, None
    moved.mark_sent()
    source._messages.remove(message)  # noqa: SLF001  # moto removes by receipt handle only
    target.add_message(moved)


def respond(start_response: Any, status: str, content: Mapping[str, Any]) -> list[bytes]:
    """Return a response as SQS makes it."""
    body = json.dumps(content).encode()
    start_response(status, [("Content-Type", "application/x-amz-json-1.0"), ("Content-Length", str(len(body)))])
    return [body]
