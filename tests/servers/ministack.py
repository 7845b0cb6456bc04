"""A small cloud on loopback: CloudFormation, DynamoDB, Lambda with its event source mapping, S3, SNS and SQS."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import botocore.session

from servers.starting import free_port, listening

REGION = "eu-central-1"


@dataclass(frozen=True)
class Cloud:
    """A running cloud.

    Args:
        port: where it listens on loopback.
    """

    port: int

    @property
    def url(self) -> str:
        """Return where all its services are."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str) -> Any:
        """Return a client of one of its services."""
        return botocore.session.get_session().create_client(
            service, region_name=REGION, endpoint_url=self.url, aws_access_key_id="local", aws_secret_access_key="local"
        )


@contextmanager
def running_cloud(log: Path) -> Iterator[Cloud]:
    """Start a cloud, and stop it afterwards.

    Args:
        log: the file that it writes to; it unpacks functions beside it.
    """
    cloud = Cloud(free_port())
    place = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(cloud.port), "TMPDIR": str(log.parent)}
    command = [Path(sys.executable).with_name("ministack")]
    with listening(command, cloud.port, log, {**os.environ, **place, "LAMBDA_EXECUTOR": "local"}):
        yield cloud
