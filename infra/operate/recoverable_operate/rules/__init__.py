"""The rules of `recoverable check`: what must be right where messages are retried, and descriptions of what is deployed."""

from recoverable_operate.rules._endpoint import Endpoint
from recoverable_operate.rules._ladder import PREFIX, Ladder, ladder_of
from recoverable_operate.rules._on_service_bus import (
    Grant,
    OnServiceBus,
    ServiceBusQueue,
    Trigger,
    Workload,
    worker_threads,
)
from recoverable_operate.rules._on_sqs import (
    Alarm,
    EventSource,
    Function,
    OnSqs,
    Permissions,
    Queue,
    Redrive,
    Statement,
)
from recoverable_operate.rules._plain_rules import PLAIN_SERVICE_BUS_RULES, PLAIN_SQS_RULES
from recoverable_operate.rules._rule import Check, Problem, Rule, Unknown, check
from recoverable_operate.rules._service_bus_rules import SERVICE_BUS_RULES
from recoverable_operate.rules._sqs_rules import SQS_RULES

__all__ = [
    "PLAIN_SERVICE_BUS_RULES", "PLAIN_SQS_RULES", "PREFIX", "SERVICE_BUS_RULES", "SQS_RULES", "Alarm", "Check", "Endpoint", "EventSource", "Function", "Grant", "Ladder",
    "OnServiceBus", "OnSqs", "Permissions", "Problem", "Queue", "Redrive", "Rule", "ServiceBusQueue", "Statement",
    "Trigger", "Unknown", "Workload", "check", "ladder_of", "worker_threads",
]  # fmt: skip
