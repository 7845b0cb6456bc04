"""Give Lambda functions that read SQS immediate retries, delayed retries and an error queue."""

from recoverable.aws._endpoint import SqsEndpoint

__all__ = ["SqsEndpoint"]
