"""Recoverability for Functions that read Service Bus queues."""

from .endpoint import ServiceBusEndpoint

__all__ = ["ServiceBusEndpoint"]
