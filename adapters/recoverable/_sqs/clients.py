"""Make the process's own clients of SQS and SNS, for functions that give none."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.config import Config
    from mypy_boto3_sqs import SQSClient


@cache
def session() -> Session:
    """Return the session of the process's clients: one of its own, which `boto3.setup_default_session` in a handler does not change."""
    import boto3

    return boto3.session.Session()


@cache
def sqs_client(region: str, timeout: float) -> SQSClient:
    """Return the process's client for a region, made at the first failure or outgoing message.

    It tries each call once: a resend after a lost answer would make a second copy, and an unsettled message is
    redelivered anyway.

    Args:
        region: such as "eu-central-1".
        timeout: seconds for connecting to one address and for one read; the call as a whole is bounded where it is made.
    """
    client: SQSClient = session().client("sqs", region_name=region, config=each_call_once(timeout))
    return client


@cache
def sns_client(region: str, timeout: float) -> Any:
    """Return the process's SNS client for a region, made for the first message that is published; see `sqs_client`."""
    return session().client("sns", region_name=region, config=each_call_once(timeout))


def each_call_once(timeout: float) -> Config:
    """Return the settings of a client that tries each call once."""
    from botocore.config import Config

    return Config(
        connect_timeout=timeout / 2, read_timeout=timeout / 2, retries={"total_max_attempts": 1, "mode": "standard"}
    )
