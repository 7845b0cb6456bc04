"""Run the Lambda functions of a SAM template on a local SQS as AWS does, without Docker.

The modules, in the order in which a message passes through them:

    sam/                 parse the template into queues, tables, topics, functions, event source mappings and schedules (pure)
    services/            everything that talks to SQS, SNS or DynamoDB:
        broker           serve SQS, SNS and DynamoDB on loopback, unless another endpoint is given
        resources        create the queues and tables
        sqs, sns,        make the calls; clients creates the boto3 clients for them
        dynamodb
    mapping              one thread per event source mapping: receive, collect a batch, invoke, delete completed messages
    schedule             one thread per schedule: invoke its function at each interval
    records              convert a message into a record of the event (pure)
    filtering            decide which messages pass the mapping's filters (pure)
    runtime/             one function and its instances:
        invoker, pool    find a free instance for the batch, a warm one if there is one, or throttle
        instance         run a process with the real runtime client, `python -m awslambdaric`
        in_process       run the handler in this process instead, for debugging
        runtime_api      serve the Runtime API to that client, over HTTP on loopback
        environment      build its environment variables (pure)
        outcomes         how an invocation can end
    responses            decide which messages of a batch are completed and which failed (pure)
    journal              the entries that observers get; formatting turns one into a line of text
    serving, host        start, stop, send, inspect, wait

Of `recoverable` this package imports what reads templates and the rules of `recoverable check`, and no endpoint: it can run any Lambda
function.
"""

from recoverable_local.decisions import Decided
from recoverable_local.lambda_host.host import LocalAws
from recoverable_local.lambda_host.journal import (
    BrokerTrouble,
    Ended,
    Entry,
    Expired,
    FilteredOut,
    FunctionLog,
    Invoked,
    Started,
    Throttled,
)
from recoverable_local.lambda_host.local_queue import Depth, LocalQueue, QueuedMessage
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.lambda_host.settings import Settings
from recoverable_local.outcomes import Died, TimedOut
from recoverable_operate.templates import TemplateError

__all__ = [
    "BrokerTrouble",
    "Decided",
    "Depth",
    "Died",
    "Ended",
    "Entry",
    "Expired",
    "FilteredOut",
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
