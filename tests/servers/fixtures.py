"""The local SQS, queues of unique names, a bucket, and a proxy that lets calls fail, as fixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from recoverable._sqs.clients import client as process_client
from servers.buckets import Bucket
from servers.faulty_proxy import FaultyProxy
from servers.moto import CREDENTIALS, REGION, client_at, moto_server, session
from servers.queues import Queue

NewQueue = Callable[..., Queue]


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """Yield the URL of a local SQS."""
    with moto_server() as url:
        yield url


def pointing_at(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Have the endpoint's own clients go to a server, and yield its URL."""
    for name, value in {**CREDENTIALS, "AWS_DEFAULT_REGION": REGION, "AWS_ENDPOINT_URL_SQS": url}.items():
        monkeypatch.setenv(name, value)
    process_client.cache_clear()
    yield url
    process_client.cache_clear()


@pytest.fixture
def sqs(moto: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URL of a local SQS, to which the endpoint's own clients go too."""
    yield from pointing_at(moto, monkeypatch)


@pytest.fixture
def new_queue(sqs: str) -> NewQueue:
    """Return a function that makes a queue whose name begins as asked; keywords are its attributes."""
    client = client_at(sqs)

    def make(beginning: str = "orders", **settings: str) -> Queue:
        name, dot, kind = beginning.partition(".")
        return Queue(client, f"{name}-{uuid4().hex[:12]}{dot}{kind}", settings)

    return make


@pytest.fixture
def proxy(sqs: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    """Yield a proxy through which the endpoint's own clients go; tests and the mapping go past it."""
    with FaultyProxy(sqs) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", proxy.url)
        yield proxy


@pytest.fixture
def bucket(sqs: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """Yield a bucket of the local S3, to which the endpoint's own clients go too."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", sqs)
    process_client.cache_clear()
    yield Bucket(session().client("s3", endpoint_url=sqs), f"bodies-{uuid4().hex[:12]}")
    process_client.cache_clear()
