"""Rules on what a Lambda function's role may do."""

from __future__ import annotations

from collections.abc import Iterator

from recoverable_operate.check.known import Unknown, known
from recoverable_operate.check.permissions import Permissions
from recoverable_operate.check.rule import Problem, rule
from recoverable_operate.check.sqs import OnSqs, Queue

ON_THE_QUEUE = {
    "sqs:ReceiveMessage": "Lambda cannot poll the queue",
    "sqs:GetQueueAttributes": "Lambda cannot poll the queue",
    "sqs:DeleteMessage": "messages that were moved or retried later stay, and run again",
    "sqs:ChangeMessageVisibility": "immediate retries wait for the whole visibility timeout",
}
"""What any queue takes ("AWSLambdaSQSQueueExecutionRole", and the calls of this package), and what its lack causes."""

COPIES = {"sqs:SendMessage": "delayed retries cannot be sent, so their messages stay and come back at once"}
"""What a standard queue takes besides."""

TO_THE_ERROR_QUEUE = {
    "sqs:SendMessage": "messages that are given up stay on the queue, until SQS moves them without a reason"
}

KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey")
"""What SQS does with the key on behalf of who calls ("Key management", Amazon SQS Developer Guide)."""


@rule("The function's role may receive, delete, hide and send on the queue, and send to the error queue.")
def rights(deployed: OnSqs) -> Iterator[Problem]:
    """Find rights that are missing; on a FIFO queue the role need not send, for its retries are no copies."""
    queue, may = known(deployed.queue), known(known(deployed.function).permissions)
    yield from missing(may, queue, ON_THE_QUEUE if known(queue.fifo) else ON_THE_QUEUE | COPIES)
    if (errors := known(deployed.error_queue)) is not None:
        yield from missing(may, errors, TO_THE_ERROR_QUEUE)


def missing(may: Permissions, queue: Queue, wanted: dict[str, str]) -> Iterator[Problem]:
    """Yield the rights that are not there; what cannot be said is left to the end, so that it hides no other."""
    answers = {action: may.allow(action, queue.arn) for action in wanted}
    for action, allowed in answers.items():
        if allowed is False:
            yield Problem(
                may.role,
                f"{may.role} may not {action} on {queue.name}",
                wanted[action],
                f"allow {action} on the ARN of {queue.name}",
            )
    for allowed in answers.values():
        if isinstance(allowed, Unknown):
            known(allowed)


@rule("The function's role may use the key of each queue that a customer's key encrypts.")
def key_access(deployed: OnSqs) -> Iterator[Problem]:
    """Find keys that the role may not use: SQS asks KMS in the name of who calls."""
    may = known(known(deployed.function).permissions)
    queues = [each for each in (known(deployed.error_queue), known(deployed.queue)) if each is not None]
    keys = {key: each.name for each in queues if (key := known(each.key)) is not None}
    for key, name in keys.items():
        for action in KEY_ACTIONS:
            if not known(may.allow(action, key_arn(key))):
                yield Problem(
                    may.role,
                    f"{may.role} may not {action} on the key of {name}",
                    "SQS answers KMS.AccessDenied: nothing is received, or no copy can be sent",
                    f"allow {action} on the ARN of the key, and let the key's own policy allow the account's roles",
                )


def key_arn(key: str) -> str:
    """Return the ARN of a key that is given by ARN or id."""
    return key if key.startswith("arn:") else f"arn:aws:kms:::key/{key}"
