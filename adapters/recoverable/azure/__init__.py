"""Give Functions that read Service Bus queues immediate retries, delayed retries and an error queue."""

from recoverable.azure._endpoint import ServiceBusEndpoint

__all__ = ["ServiceBusEndpoint"]
