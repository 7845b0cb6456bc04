"""How the host's own boto3 clients are made: with credentials that local servers take, and on no way to an account."""

from __future__ import annotations

import os

import botocore.session
from boto3 import Session
from botocore.config import Config

from recoverable_local.lambda_host.runtime.environment import credentials

# AWS_PROFILE is for an account, and one that does not exist would be an error.
_NO_PROFILE = {"profile": (None, None, None, None)}


def session(region: str) -> Session:
    """What makes clients for a region."""
    given = credentials(os.environ)
    return Session(
        botocore_session=botocore.session.Session(session_vars=_NO_PROFILE),
        region_name=region,
        aws_access_key_id=given["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=given["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=given.get("AWS_SESSION_TOKEN"),
    )


def config(connections: int) -> Config:
    """Of a client that keeps so many connections: no proxy, and three tries."""
    return Config(max_pool_connections=connections, proxies={}, retries={"mode": "standard", "max_attempts": 3})
