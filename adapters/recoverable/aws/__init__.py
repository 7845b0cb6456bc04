"""Give Lambda functions that read SQS immediate retries, delayed retries and an error queue."""

from __future__ import annotations

from recoverable.aws._endpoint import SqsEndpoint, UnfinishedBatch

__all__ = ["BodyNotFetched", "S3Bodies", "SqsEndpoint", "UnfinishedBatch"]

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.aws._large_bodies import BodyNotFetched, S3Bodies
else:
    from recoverable._lazy import attach

    __getattr__, __dir__ = attach(__name__, __all__, {"recoverable.aws._large_bodies": ("BodyNotFetched", "S3Bodies")})
