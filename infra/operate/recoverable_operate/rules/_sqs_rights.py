"""Rules on what the role of a function may do on its queues and their keys."""

from __future__ import annotations

from collections.abc import Iterator

from recoverable_operate.rules._on_sqs import OnSqs, Permissions, Queue
from recoverable_operate.rules._rule import Problem, Unknown, all_of, known, rule

ON_THE_QUEUE = {
    "sqs:ReceiveMessage": "Lambda cannot poll the queue",
    "sqs:GetQueueAttributes": "Lambda cannot poll the queue",
    "sqs:DeleteMessage": "messages stay until the redrive policy takes them, and those that fail wait for the right",
}
"""The rights that any queue takes ("AWSLambdaSQSQueueExecutionRole", and the calls of this package), and what its lack causes."""

RETRIES = {"sqs:ChangeMessageVisibility": "immediate retries wait for the whole visibility timeout"}
"""The rights that a queue whose messages are retried takes besides."""

COPIES = {"sqs:SendMessage": "delayed retries cannot be sent, so their messages stay and come back at once"}
"""The rights that such a standard queue takes besides."""

GIVEN_UP = "messages that are given up stay on the queue, until SQS moves them without a reason"

KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey")
"""The actions of SQS with the key on behalf of who calls ("Key management", Amazon SQS Developer Guide)."""


@rule(
    "The function's role may receive, delete, hide and send on the queue, and send to the error queue; where it stamps dead letters, receive, delete and send there."
)
def rights(deployed: OnSqs) -> Iterator[Problem]:
    """Find rights that are missing; on a FIFO queue the role need not send, because its retries are no copies."""
    return all_of((on_the_queue(deployed), for_retries(deployed), on_the_error_queue(deployed)))


def on_the_queue(deployed: OnSqs) -> Iterator[Problem]:
    """Find what the role may not do on the queue, whatever the function is."""
    queue, may = known(deployed.queue), known(known(deployed.function).permissions)
    yield from all_of(missing(may, action, queue.arn, queue.name, causes) for action, causes in ON_THE_QUEUE.items())


def for_retries(deployed: OnSqs) -> Iterator[Problem]:
    """Find what the role of an endpoint may not do on the queue."""
    if known(deployed.stamps):
        return
    queue, may = known(deployed.queue), known(known(deployed.function).permissions)
    wanted = RETRIES if known(queue.fifo) else RETRIES | COPIES
    yield from all_of(missing(may, action, queue.arn, queue.name, causes) for action, causes in wanted.items())


def on_the_error_queue(deployed: OnSqs) -> Iterator[Problem]:
    """Find what the role may not do on the error queue."""
    errors, may = known(deployed.error_queue), known(known(deployed.function).permissions)
    if errors is not None:
        yield from missing(may, "sqs:SendMessage", errors.arn, errors.name, GIVEN_UP)


def missing(may: Permissions, action: str, arn: str, name: str, causes: str, also: str = "") -> Iterator[Problem]:
    """Find one action that the role may not do on one resource."""
    if not known(may.allow(action, arn)):
        yield Problem(
            may.role, f"{may.role} may not {action} on {name}", causes, f"allow {action} on the ARN of {name}{also}"
        )


@rule("The function's role may use the key of each queue that a customer's key encrypts.")
def key_access(deployed: OnSqs) -> Iterator[Problem]:
    """Find keys that the role may not use: SQS asks KMS in the name of who calls."""
    return all_of(on_the_key(deployed, each) for each in (deployed.queue, deployed.error_queue))


def on_the_key(deployed: OnSqs, encrypted: Queue | Unknown | None) -> Iterator[Problem]:
    """Find what the role may not do with the key of a queue."""
    queue = known(encrypted)
    if queue is None or (key := known(queue.key)) is None:
        return
    may, arn = (
        known(known(deployed.function).permissions),
        key if key.startswith("arn:") else f"arn:aws:kms:::key/{key}",
    )
    causes = "SQS answers KMS.AccessDenied: nothing is received, or no copy can be sent"
    also = ", and let the key's own policy allow the account's roles"
    yield from all_of(missing(may, action, arn, f"the key of {queue.name}", causes, also) for action in KEY_ACTIONS)
