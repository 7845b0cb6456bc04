"""Recoverability for Lambda functions that read SQS."""

from recoverable.aws.endpoint import SqsEndpoint

__all__ = ["SqsEndpoint"]
