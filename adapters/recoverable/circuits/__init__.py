"""Share the circuit of a `RateLimit` between instances, and pause a trigger while it is open."""

from __future__ import annotations

__all__ = ["DynamoDbCircuit", "PauseTrigger", "Probe", "SqsProbeQueue", "TableCircuit"]

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.circuits._dynamodb import DynamoDbCircuit
    from recoverable.circuits._pause import PauseTrigger
    from recoverable.circuits._probe import Probe, SqsProbeQueue
    from recoverable.circuits._table import TableCircuit
else:
    from recoverable._lazy import attach

    __getattr__, __dir__ = attach(
        __name__,
        __all__,
        {
            "recoverable.circuits._dynamodb": ("DynamoDbCircuit",),
            "recoverable.circuits._pause": ("PauseTrigger",),
            "recoverable.circuits._probe": ("Probe", "SqsProbeQueue"),
            "recoverable.circuits._table": ("TableCircuit",),
        },
    )
