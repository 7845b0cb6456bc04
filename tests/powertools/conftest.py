"""The queues of a processor on the local SQS."""

from __future__ import annotations

from aws.conftest import error, orders
from servers.fixtures import bucket, moto, new_queue, sqs

__all__ = ["bucket", "error", "moto", "new_queue", "orders", "sqs"]
