"""moto's SQS on loopback, one call at a time, and clients for it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from recoverable_local.lambda_host.services.one_at_a_time import OneAtATime

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

REGION = "eu-west-1"
ACCOUNT = "123456789012"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@contextmanager
def moto_server() -> Iterator[str]:
    """Serve SQS on a port that the kernel chooses; gives the URL."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would write a line for each call
    application = OneAtATime(
        DomainDispatcherApplication(create_backend_app),
        concurrent=frozenset(),  # two receives at once can both get a message, which SQS does very rarely
    )
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@cache
def session() -> boto3.session.Session:
    """Return the session of all clients, since each new one reads its models again."""
    return boto3.session.Session(aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION)


def client_at(url: str) -> SQSClient:
    """Return a client that tries each call once."""
    once = Config(connect_timeout=30, read_timeout=30, retries={"total_max_attempts": 1, "mode": "standard"})
    client: SQSClient = session().client("sqs", endpoint_url=url, config=once)
    return client
