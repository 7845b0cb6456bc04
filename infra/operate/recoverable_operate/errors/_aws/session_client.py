"""Make the SQS clients of a command: with profile, region, role and endpoint."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recoverable._sqs.clients import config
from recoverable._sqs.names import destination
from recoverable._sqs.queues import Queue
from recoverable_operate.errors._aws.answers import call_error
from recoverable_operate.errors._queue import OperateError

if TYPE_CHECKING:
    from boto3 import Session
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

CALL_TIMEOUT = 60
"""Seconds for a call: half of it for a connection, and half for an answer; a long poll takes 20 at most."""


LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How AWS is reached: what is not given is found as the SDK finds it."""

    profile: str | None = None
    region: str | None = None
    role: str | None = None
    endpoint_url: str | None = None


def session_for(access: Access) -> Session:
    """Return the session, of the role where one is given; its credentials are renewed before they end.

    Raises:
        OperateError: boto3 is not installed, or there is no such profile.
    """
    try:
        import boto3
    except ModuleNotFoundError as error:
        raise OperateError(
            f"SQS needs {error.name}: pip install 'recoverable-operate[aws]'; a queue on Service Bus is sb://NAMESPACE/QUEUE"
        ) from None
    region = access.region or os.environ.get("AWS_REGION")  # which the other SDKs read; boto3 has AWS_DEFAULT_REGION
    with call_error(str(access.profile)):
        session = boto3.Session(profile_name=access.profile, region_name=region)
    return session if access.role is None else assumed(session, access.role)


def assumed(session: Session, role: str) -> Session:
    """Return a session of the role; it asks for new credentials by the other session whenever its own end."""
    import boto3
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
    from botocore.session import get_session

    with call_error(role):
        fetcher = AssumeRoleCredentialFetcher(
            client_creator=session._session.create_client,  # noqa: SLF001  # as botocore's own provider makes it
            source_credentials=session.get_credentials(),
            role_arn=role,
            extra_args={"RoleSessionName": "recoverable-errors"},
        )
    of_role = get_session()
    of_role._credentials = DeferredRefreshableCredentials(  # type: ignore[attr-defined]  # noqa: SLF001  # botocore has no setter that takes renewable ones
        method="assume-role", refresh_using=fetcher.fetch_credentials
    )
    return boto3.Session(botocore_session=of_role, region_name=session.region_name)


class Clients:
    """The clients of a session, one for a region and a number of tries.

    Args:
        access: how AWS is reached.
    """

    def __init__(self, access: Access) -> None:
        self._access, self._session = access, session_for(access)
        self._made = cache(self._make)

    def reader(self, region: str | None) -> SQSClient:
        """Return the client that reads, hides and deletes: it tries again what had no answer, which harms nothing."""
        return self._made(region or None, 4)

    def sender(self, region: str) -> SQSClient:
        """Return the client that sends: it tries once, because a second try could make a second copy."""
        return self._made(region or None, 1)

    def metrics(self, region: str) -> Any:
        """Return the client of CloudWatch; None where SQS is at another endpoint, which CloudWatch knows nothing of."""
        if self._access.endpoint_url is not None or os.environ.get("AWS_ENDPOINT_URL_SQS"):
            return None
        return self._session.client("cloudwatch", region_name=region or None, config=config(CALL_TIMEOUT, 4))

    def circuits(self, region: str) -> DynamoDBClient:
        """Return the client of DynamoDB, which has the circuits."""
        return self._session.client("dynamodb", region_name=region or None, config=config(CALL_TIMEOUT, 4))

    def account(self) -> str:
        """Return the account of the credentials. A local server is asked itself, which has accounts of its own.

        Raises:
            OperateError: it cannot be asked.
        """
        endpoint = self._access.endpoint_url
        is_local = endpoint is not None and urlsplit(endpoint).hostname in LOOPBACK
        with call_error("the account of the credentials"):
            client = self._session.client(
                "sts", endpoint_url=endpoint if is_local else None, config=config(CALL_TIMEOUT, 4)
            )
            return str(client.get_caller_identity()["Account"])

    def _make(self, region: str | None, tries: int) -> SQSClient:
        with call_error("SQS"):
            client: SQSClient = self._session.client(
                "sqs", region_name=region, endpoint_url=self._access.endpoint_url, config=config(CALL_TIMEOUT, tries)
            )
        return client


def find_queue(clients: Clients, queue: str, region: str | None) -> tuple[SQSClient, str]:
    """Return the client and the URL of a queue, given by ARN, URL or name.

    Raises:
        OperateError: there is no such queue, or it may not be looked for.
    """
    try:
        found = destination(queue, Queue(region=region or "", account="", name=""))
    except ValueError as error:
        raise OperateError(str(error)) from None
    client = clients.reader(found.region or None)
    if found.url:
        return client, found.url
    owner = {"QueueOwnerAWSAccountId": found.account} if found.account else {}
    with call_error(queue):
        return client, client.get_queue_url(QueueName=found.name, **owner)["QueueUrl"]
