"""Make the process's own clients of AWS, for functions that give none, and check those that users give."""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from recoverable._sqs.batches import CHANGE_VISIBILITY, DELETE, SEND

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.config import Config

log = logging.getLogger("recoverable")

ONCE = 'boto3.client("sqs", config=Config(retries={"total_max_attempts": 1, "mode": "standard"}))'


@cache
def session() -> Session:
    """Return the session of the process's clients: one of its own, which `boto3.setup_default_session` in a handler does not change."""
    import boto3

    return boto3.session.Session()


@cache
def client(service: str, region: str | None, timeout: float, attempts: int = 1) -> Any:
    """Return the process's client of a service in a region, made when it is first needed.

    By default it tries each call once: a resend after a lost answer would make a second copy, and an unsettled message
    is redelivered anyway.

    Args:
        service: such as "sqs".
        region: such as "eu-central-1"; None for the process's.
        timeout: seconds for connecting to one address and for one read; the call as a whole is bounded where it is
            made.
        attempts: how often it tries a call; more than once where a call that is made twice has the same effect as once.
    """
    return session().client(service, region_name=region, config=config(timeout, attempts))  # type: ignore[call-overload]  # the stubs list each service by itself


def config(timeout: float, attempts: int) -> Config:
    """Return the settings of a client that tries each call so often, and takes so many seconds for connecting and one read."""
    from botocore.config import Config

    return Config(
        connect_timeout=timeout / 2,
        read_timeout=timeout / 2,
        retries={"total_max_attempts": attempts, "mode": "standard"},
    )


@cache
def default_region() -> str:
    """Return the process's region, for queues whose name does not say theirs; "" where there is none."""
    return os.environ.get("AWS_REGION") or session().region_name or ""


def check_client(owner: str, given: Any) -> None:
    """Check the setting `client` of an endpoint. Warn of one that repeats its calls.

    Args:
        owner: the name of the class that was given it.
        given: the setting.

    Raises:
        TypeError: it is no SQS client.
    """
    if not all(callable(getattr(given, each.method, None)) for each in (SEND, DELETE, CHANGE_VISIBILITY)):
        raise TypeError(f"{owner}(client) is {given!r}; write {ONCE}, or leave it out")
    retries = getattr(getattr(getattr(given, "meta", None), "config", None), "retries", None)
    if isinstance(retries, dict) and retries.get("total_max_attempts") != 1:
        log.warning(
            "The client of %s repeats calls that got no answer. A copy that SQS took without answering is then sent twice, and its"
            " message is handled twice. Write client=%s, or leave it out.",
            owner,
            ONCE,
        )
