"""Recoverability for Lambda functions that read SQS."""

from .endpoint import SqsEndpoint

__all__ = ["SqsEndpoint"]
