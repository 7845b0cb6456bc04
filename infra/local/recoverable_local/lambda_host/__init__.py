"""Runs the Lambda functions of a SAM template on a local SQS as AWS would, without Docker.

How the pieces fit, in the order in which a message meets them:

    sam/            the template → frozen queues, tables, functions, event source mappings and schedules (pure)
    broker          an SQS endpoint on loopback, unless another is given
    resources       queues and tables are created
    sqs, dynamodb   every call to the broker, and every call about tables; clients makes the clients for both
    mapping         a thread for each event source mapping: receives, gathers a batch, hands it on, deletes what is done
    schedule        a thread for each schedule: invokes its function again and again
    records         message → record of the event (pure)
    invoker, pool   a free instance for the batch, a warm one if there is; or throttling
    instance        a process with the real runtime client, `python -m awslambdaric`
    runtime_api     what that client talks to, over HTTP on loopback
    environment     the variables it finds (pure)
    outcomes        how an invocation can end
    responses       what that means for each message (pure)
    journal         what was seen to happen, for observers
    serving, host   the same from the outside: start, stop, send, look, wait

Nothing of `recoverable` outside `recoverable_local` is imported: it hosts any Lambda function.
"""

from recoverable_local.lambda_host.host import LocalAws
from recoverable_local.lambda_host.journal import (
    BrokerTrouble,
    Ended,
    Entry,
    Expired,
    FunctionLog,
    Invoked,
    Started,
    Throttled,
)
from recoverable_local.lambda_host.local_queue import Depth, LocalQueue, QueuedMessage
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.lambda_host.sam.document import TemplateError
from recoverable_local.lambda_host.settings import Settings
from recoverable_local.outcomes import Died, TimedOut

__all__ = [
    "BrokerTrouble",
    "Depth",
    "Died",
    "Ended",
    "Entry",
    "Expired",
    "FunctionLog",
    "InitFailed",
    "Invoked",
    "LocalAws",
    "LocalQueue",
    "Outcome",
    "QueuedMessage",
    "Raised",
    "Returned",
    "Settings",
    "Started",
    "TemplateError",
    "Throttled",
    "TimedOut",
]
