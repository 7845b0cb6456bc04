"""A Service Bus namespace for development and tests, to which the real Azure SDKs speak; no Docker, standard library only.

How the pieces fit, from the wire inwards:

    server          the only socket and thread
    links/          one connection as a state machine: sessions, links, settlement, `$cbs` and `$management`
    amqp/           AMQP 1.0: types, frames, performatives (pure)
    broker/         entities, locks, sessions, duplicates, filters, forwarding (no wire; time as it is given)
    faults          what goes wrong on purpose
    emulator, views the same from the outside: start, stop, look, set time forward

Nothing of `recoverable` outside this package is imported: any program that speaks to Service Bus can use it.
"""

from recoverable_local.service_bus.broker.filters import CorrelationFilter, TrueFilter
from recoverable_local.service_bus.broker.settings import Queue, Subscription, Topic
from recoverable_local.service_bus.emulator import ServiceBusNamespace
from recoverable_local.service_bus.faults import DropConnection, Fault, LoseAnswer, Operation, Refuse
from recoverable_local.service_bus.views import Depth, QueueView, SeenMessage

__all__ = [
    "CorrelationFilter",
    "Depth",
    "DropConnection",
    "Fault",
    "LoseAnswer",
    "Operation",
    "Queue",
    "QueueView",
    "Refuse",
    "SeenMessage",
    "ServiceBusNamespace",
    "Subscription",
    "Topic",
    "TrueFilter",
]
