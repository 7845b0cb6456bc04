"""Check the SQS client that a user gives an endpoint."""

from __future__ import annotations

import logging
from typing import Any

log = logging.getLogger("recoverable")

CALLS = ("send_message_batch", "delete_message_batch", "change_message_visibility_batch")

ONCE = 'boto3.client("sqs", config=Config(retries={"total_max_attempts": 1, "mode": "standard"}))'


def check_client(owner: str, client: Any) -> None:
    """Check the setting `client` of an endpoint. Warn of one that repeats its calls.

    Args:
        owner: the name of the class that was given it.
        client: the setting.

    Raises:
        TypeError: it is no SQS client.
    """
    if not all(callable(getattr(client, name, None)) for name in CALLS):
        raise TypeError(f"{owner}(client) is {client!r}; write {ONCE}, or leave it out")
    retries = getattr(getattr(getattr(client, "meta", None), "config", None), "retries", None)
    if isinstance(retries, dict) and retries.get("total_max_attempts") != 1:
        log.warning(
            "The client of %s repeats calls that got no answer. A copy that SQS took without answering is then sent twice, and its"
            " message is handled twice. Write client=%s, or leave it out.",
            owner,
            ONCE,
        )
