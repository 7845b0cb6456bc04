"""Work on error queues of SQS and Service Bus: look at each message once in a sweep, and send messages back to where they failed.

boto3 and azure-servicebus are imported when a queue is opened: they are of the extras `aws` and `azure`.
"""

from recoverable_operate.errors._aws.client import SqsErrorQueue
from recoverable_operate.errors._azure.amqp_types import (
    Foreign,
    MarkedBytes,
    MarkedInt,
    RawDecimal,
    decimal_text,
    id_text,
)
from recoverable_operate.errors._azure.client import ServiceBusErrorQueue
from recoverable_operate.errors._azure.entity import Entity
from recoverable_operate.errors._azure.marking_client import mark_types
from recoverable_operate.errors._azure.opening_client import open_entity
from recoverable_operate.errors._filter import Filter, parse_where
from recoverable_operate.errors._journal import Journal
from recoverable_operate.errors._message import FailedMessage, Group, Tally, group_of
from recoverable_operate.errors._queue import Clock, ErrorQueue, OperateError, Stop, SystemClock
from recoverable_operate.errors._redrive import Rules
from recoverable_operate.errors._sending import Outcome, Redrive, Settings
from recoverable_operate.errors._sweep import Plan, matching, plan_redrive

__all__ = [
    "Clock", "Entity", "ErrorQueue", "FailedMessage", "Filter", "Foreign", "Group", "Journal", "MarkedBytes", "MarkedInt",
    "OperateError", "Outcome", "Plan", "RawDecimal", "Redrive", "Rules", "ServiceBusErrorQueue", "Settings", "SqsErrorQueue", "Stop", "SystemClock", "Tally",
    "decimal_text", "group_of", "id_text", "mark_types", "matching", "open_entity", "parse_where", "plan_redrive",
]  # fmt: skip
