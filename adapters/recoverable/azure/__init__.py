"""Recoverability for Functions that read Service Bus queues."""

from recoverable.azure.endpoint import ServiceBusEndpoint

__all__ = ["ServiceBusEndpoint"]
