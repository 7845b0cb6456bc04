"""Give Functions that read Service Bus queues immediate retries, delayed retries and an error queue."""

from __future__ import annotations

from recoverable.azure._endpoint import ServiceBusEndpoint

__all__ = ["Abandoned", "CopyNotSent", "ServiceBusEndpoint"]

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable._errors import Abandoned
    from recoverable.azure._settle import CopyNotSent
else:
    from recoverable._lazy import attach

    __getattr__, __dir__ = attach(
        __name__, __all__, {"recoverable.azure._settle": ("CopyNotSent",), "recoverable._errors": ("Abandoned",)}
    )
