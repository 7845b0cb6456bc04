"""Create the host's own boto3 clients, with credentials that local servers accept and without profile or proxy."""

from __future__ import annotations

import os

import botocore.session
from boto3 import Session
from botocore.config import Config

from recoverable_local.lambda_host.runtime.environment import credentials

# AWS_PROFILE belongs to a real account, and boto3 raises when that profile does not exist.
_NO_PROFILE = {"profile": (None, None, None, None)}


def session(region: str) -> Session:
    """Create a boto3 session for a region."""
    given = credentials(os.environ)
    return Session(
        botocore_session=botocore.session.Session(session_vars=_NO_PROFILE),
        region_name=region,
        aws_access_key_id=given["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=given["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=given.get("AWS_SESSION_TOKEN"),
    )


def config(connections: int) -> Config:
    """Return the configuration of a client with this many connections, no proxy, and three attempts per call."""
    return Config(max_pool_connections=connections, proxies={}, retries={"mode": "standard", "max_attempts": 3})
