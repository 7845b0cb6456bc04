"""Give Lambda functions that read SQS immediate retries, delayed retries and an error queue."""

from __future__ import annotations

from recoverable.aws._endpoint import SqsEndpoint, UnfinishedBatch

__all__ = [
    "BodyNotFetched",
    "DynamoDbCircuit",
    "PauseTrigger",
    "Probe",
    "S3Bodies",
    "SqsEndpoint",
    "SqsProbeQueue",
    "UnfinishedBatch",
]

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.aws._circuit_store import DynamoDbCircuit
    from recoverable.aws._large_bodies import BodyNotFetched, S3Bodies
    from recoverable.aws._pause import PauseTrigger
    from recoverable.aws._probe import Probe, SqsProbeQueue
else:
    from recoverable._lazy import attach

    __getattr__, __dir__ = attach(
        __name__,
        __all__,
        {
            "recoverable.aws._large_bodies": ("BodyNotFetched", "S3Bodies"),
            "recoverable.aws._circuit_store": ("DynamoDbCircuit",),
            "recoverable.aws._pause": ("PauseTrigger",),
            "recoverable.aws._probe": ("Probe", "SqsProbeQueue"),
        },
    )
