"""Test your real function in virtual time, on SQS and Lambda or on Service Bus and Functions; see docs/use/testing.md."""

from __future__ import annotations

TYPE_CHECKING = False  # as everywhere in the package: `typing` need not be imported
if TYPE_CHECKING:
    from recoverable_local.testing.aws.world import SqsWorld
    from recoverable_local.testing.azure.world import ServiceBusWorld
    from recoverable_local.testing.engine.invocations import EndlessRun, HandlerBlocked
    from recoverable_local.testing.faults import (
        AnswerLost,
        ClockSkewed,
        ConnectionCut,
        ConnectionReset,
        DeliveredTwice,
        Died,
        Fault,
        InstanceLost,
        LockLost,
        PartlyFailed,
        Raises,
        Refused,
        Slow,
        Throttled,
        TimedOut,
        Unreachable,
        VisibilityExpired,
    )
    from recoverable_local.testing.seen_message import SeenMessage
    from recoverable_local.testing.timeline import Event, Timeline

__all__ = [
    "AnswerLost",
    "ClockSkewed",
    "ConnectionCut",
    "ConnectionReset",
    "DeliveredTwice",
    "Died",
    "EndlessRun",
    "Event",
    "Fault",
    "HandlerBlocked",
    "InstanceLost",
    "LockLost",
    "PartlyFailed",
    "Raises",
    "Refused",
    "SeenMessage",
    "ServiceBusWorld",
    "Slow",
    "SqsWorld",
    "Throttled",
    "TimedOut",
    "Timeline",
    "Unreachable",
    "VisibilityExpired",
]


def __getattr__(name: str) -> object:
    """Import a public name at its first use: pytest loads this package with the plugin, and most test runs need no world (PEP 562).

    Raises:
        ModuleNotFoundError: what the world stands on is not installed.
    """
    match name:
        case "SqsWorld":
            from recoverable_local.testing.aws.world import SqsWorld

            return SqsWorld
        case "ServiceBusWorld":
            return _service_bus_world()
        case "SeenMessage":
            from recoverable_local.testing.seen_message import SeenMessage

            return SeenMessage
        case "EndlessRun" | "HandlerBlocked":
            from recoverable_local.testing.engine import invocations

            return getattr(invocations, name)
        case "Event" | "Timeline":
            from recoverable_local.testing import timeline

            return getattr(timeline, name)
        case _ if name in __all__:
            from recoverable_local.testing import faults

            return getattr(faults, name)
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")


def _service_bus_world() -> object:
    try:
        from recoverable_local.testing.azure.world import ServiceBusWorld
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("azure"):
            raise
        hint = f"{error}; ServiceBusWorld needs the SDKs: write pip install 'recoverable[azure]'"
        raise ModuleNotFoundError(hint, name=error.name) from error
    return ServiceBusWorld
