"""Deploy a function that reads a queue to moto, with calls of the real SDK: all right, with a test's changes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any
from uuid import uuid4

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from servers.moto import session

TRUST = {"Version": "2012-10-17", "Statement": []}


@dataclass
class Account:
    """moto's account.

    Args:
        url: where all its services are.
        looping: functions that may send to their own queue, which moto does not know of.
        denied: paths and operations that are answered with "access denied".
    """

    url: str = ""
    looping: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)

    def client(self, service: str) -> Any:
        """Return a client of a service."""
        return session().client(service, endpoint_url=self.url)  # type: ignore[call-overload]

    def answer(self, environ: dict[str, Any], ours: Any, start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer what moto cannot; hand on the rest."""
        path, target = environ["PATH_INFO"], environ.get("HTTP_X_AMZ_TARGET", "")
        if any(each in path or target.endswith(each) for each in self.denied):
            start(
                "403 Forbidden", [("x-amzn-errortype", "AccessDeniedException"), ("Content-Type", "application/json")]
            )
            return [b'{"__type": "AccessDeniedException", "message": "not allowed"}']
        if path.endswith("/recursion-config"):
            start("200 OK", [("Content-Type", "application/json")])
            said = "Allow" if path.split("/")[-2] in self.looping else "Terminate"
            return [json.dumps({"RecursiveLoop": said}).encode()]
        answered: Iterable[bytes] = ours(environ, start)
        return answered


@contextmanager
def account() -> Iterator[Account]:
    """Serve an account on loopback."""
    served, ours = Account(), DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, lambda environ, start: served.answer(environ, ours, start))
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Shop:
    """A deployed function, its queue and its error queue; all of them right, until a test changes something.

    Args:
        account: where it is deployed.
        name: the function's; the queues' names begin with it.
        kms_key: the key of the queue.
        variables: the function's environment.
    """

    account: Account
    name: str = field(default_factory=lambda: f"shop-{uuid4().hex[:8]}")
    kms_key: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    response_types: tuple[str, ...] = ("ReportBatchItemFailures",)
    max_receive_count: int = 11
    mapping: str = ""

    def arn(self, queue: str) -> str:
        """Return the ARN of one of its queues."""
        return f"arn:aws:sqs:{session().region_name}:123456789012:{self.name}-{queue}"

    def deploy(self) -> None:
        """Make the queues, the role and the function."""
        sqs, functions = self.account.client("sqs"), self.account.client("lambda")
        sqs.create_queue(QueueName=f"{self.name}-error", Attributes={"MessageRetentionPeriod": "1209600"})
        redrive = {"deadLetterTargetArn": self.arn("error"), "maxReceiveCount": self.max_receive_count}
        key = {"KmsMasterKeyId": self.kms_key} if self.kms_key else {}
        sqs.create_queue(
            QueueName=f"{self.name}-orders",
            Attributes={"VisibilityTimeout": "180", "RedrivePolicy": json.dumps(redrive), **key},
        )
        functions.create_function(
            FunctionName=self.name, Role=self.role(self.name, {"sqs:SendMessage": "error", "sqs:*": "orders"}), Runtime="python3.13", Handler="app.handler", Timeout=30,
            Code={"ZipFile": code()}, Environment={"Variables": self.variables},
        )  # fmt: skip
        made = functions.create_event_source_mapping(
            FunctionName=self.name, EventSourceArn=self.arn("orders"), FunctionResponseTypes=list(self.response_types)
        )
        self.mapping = made["UUID"]
        self.account.looping.add(self.name)

    def deploy_stamp(self) -> str:
        """Put a queue for dead letters before the error queue, and a function that reads it; return the function's name."""
        sqs, functions, name = self.account.client("sqs"), self.account.client("lambda"), f"{self.name}-stamp"
        to_error = json.dumps({"deadLetterTargetArn": self.arn("error"), "maxReceiveCount": 50})
        sqs.create_queue(
            QueueName=f"{self.name}-dead", Attributes={"RedrivePolicy": to_error, "VisibilityTimeout": "180"}
        )
        to_dead = json.dumps({"deadLetterTargetArn": self.arn("dead"), "maxReceiveCount": self.max_receive_count})
        orders = sqs.get_queue_url(QueueName=f"{self.name}-orders")["QueueUrl"]
        sqs.set_queue_attributes(QueueUrl=orders, Attributes={"RedrivePolicy": to_dead})
        functions.create_function(
            FunctionName=name, Role=self.role(name, {"sqs:SendMessage": "error", "sqs:*": "dead"}), Timeout=30,
            Runtime="python3.13", Handler="dead_letters.handler", Code={"ZipFile": code()},
        )  # fmt: skip
        functions.create_event_source_mapping(
            FunctionName=name, EventSourceArn=self.arn("dead"), FunctionResponseTypes=list(self.response_types)
        )
        return name

    def role(self, name: str, allowed: dict[str, str]) -> str:
        """Make a role with an inline policy."""
        iam = self.account.client("iam")
        role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]["Arn"]
        self.may(allowed, role=name)
        return str(role)

    def may(self, allowed: dict[str, str], *, role: str | None = None) -> None:
        """Put the inline policy: these actions on these queues."""
        statements = [
            {"Effect": "Allow", "Action": action, "Resource": self.arn(queue)} for action, queue in allowed.items()
        ]
        document = {"Version": "2012-10-17", "Statement": statements}
        self.account.client("iam").put_role_policy(
            RoleName=role or self.name, PolicyName="shop", PolicyDocument=json.dumps(document)
        )


def code() -> bytes:
    """Return a zip file with a module in it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("app.py", "")
    return archive.getvalue()
