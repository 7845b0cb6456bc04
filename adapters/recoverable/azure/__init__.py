"""Give Functions that read Service Bus queues immediate retries, delayed retries and an error queue."""

from recoverable.azure.endpoint import ServiceBusEndpoint

__all__ = ["ServiceBusEndpoint"]
