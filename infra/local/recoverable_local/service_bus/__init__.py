"""Serve a Service Bus namespace to the real Azure SDKs, for development and tests; no Docker, standard library only.

The modules, from the network inwards:

    server          run the only socket and the only thread
    links/          handle one connection as a state machine: sessions, links, settlement, `$cbs` and `$management`
    amqp/           encode and decode AMQP 1.0: types, frames, performatives (pure)
    broker/         hold messages: entities, locks, sessions, duplicates, filters, forwarding (no network; the clock is an argument)
    faults          inject faults on request
    emulator, views start, stop, inspect, advance the time

This package imports nothing of `recoverable`: any program that speaks to Service Bus can use it.
"""

from recoverable_local.service_bus.broker.filters import CorrelationFilter, Rule, SqlFilter, TrueFilter
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
    "Rule",
    "SeenMessage",
    "ServiceBusNamespace",
    "SqlFilter",
    "Subscription",
    "Topic",
    "TrueFilter",
]
