"""Read bodies that were too large for SQS and that their senders put into S3."""

from recoverable.aws._bodies.settings import BodyNotFetched, S3Bodies

__all__ = ["BodyNotFetched", "S3Bodies"]
