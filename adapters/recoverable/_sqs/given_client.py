"""Check the SQS client that a user gives an endpoint."""

from __future__ import annotations

import logging
import re
from typing import Any

from recoverable._sqs.operations import CHANGE_VISIBILITY, DELETE, SEND

log = logging.getLogger("recoverable")

ONCE = 'boto3.client("sqs", config=Config(retries={"total_max_attempts": 1, "mode": "standard"}))'


def check_client(owner: str, client: Any) -> None:
    """Check the setting `client` of an endpoint. Warn of one that repeats its calls.

    Args:
        owner: the name of the class that was given it.
        client: the setting.

    Raises:
        TypeError: it is no SQS client.
    """
    needed = [method_of(operation.name) for operation in (SEND, DELETE, CHANGE_VISIBILITY)]
    if not all(callable(getattr(client, method, None)) for method in needed):
        raise TypeError(f"{owner}(client) is {client!r}; write {ONCE}, or leave it out")
    retries = getattr(getattr(getattr(client, "meta", None), "config", None), "retries", None)
    if isinstance(retries, dict) and retries.get("total_max_attempts") != 1:
        log.warning(
            "The client of %s repeats calls that got no answer. A copy that SQS took without answering is then sent twice, and its"
            " message is handled twice. Write client=%s, or leave it out.",
            owner,
            ONCE,
        )


def method_of(operation: str) -> str:
    """Return the name of a client's method for an operation, as botocore makes it of "SendMessageBatch"."""
    return re.sub("(?<!^)(?=[A-Z])", "_", operation).lower()
