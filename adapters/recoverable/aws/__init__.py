"""Give Lambda functions that read SQS immediate retries, delayed retries and an error queue."""

from __future__ import annotations

from recoverable.aws._endpoint import SqsEndpoint, UnfinishedBatch

__all__ = ["SqsEndpoint", "UnfinishedBatch"]
