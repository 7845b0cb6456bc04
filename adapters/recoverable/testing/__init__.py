"""A test kit that runs your real function on a world of SQS and Lambda, or of Service Bus and Functions, in virtual time; see docs/testing.md."""

from __future__ import annotations

TYPE_CHECKING = False  # as everywhere in the package: `typing` need not be imported
if TYPE_CHECKING:
    from .aws.world import SqsWorld
    from .azure.world import ServiceBusWorld
    from .faults import (
        AnswerLost,
        ClockSkewed,
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
    from .seen import SeenMessage
    from .timeline import Event, Timeline
    from .virtual import EndlessRun

__all__ = [
    "AnswerLost",
    "ClockSkewed",
    "DeliveredTwice",
    "Died",
    "EndlessRun",
    "Event",
    "Fault",
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

_WHERE = {
    "SqsWorld": "aws.world",
    "ServiceBusWorld": "azure.world",
    "SeenMessage": "seen",
    "EndlessRun": "virtual",
    "Event": "timeline",
    "Timeline": "timeline",
}


def __getattr__(name: str) -> object:
    """The world is imported when somebody asks for it, not whenever pytest starts with the plugin beside it (PEP 562).

    Raises:
        ModuleNotFoundError: what the world stands on is not installed.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module  # noqa: PLC0415

    try:
        return getattr(import_module(f".{_WHERE.get(name, 'faults')}", __name__), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("azure"):
            raise
        hint = f"{error}; {name} needs the SDKs: write pip install 'recoverable[azure]'"
        raise ModuleNotFoundError(hint, name=error.name) from error
