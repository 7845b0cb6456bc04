"""Provide a queue, a function and the mapping between them on a local cloud, for the tests of pausing."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from builders import Boom, Clock, delivery, seconds
from circuits.aws.conftest import Account
from rate_limit.rate_limited import Instance
from recoverable import RateLimit
from recoverable.circuits import PauseTrigger, Probe, SqsProbeQueue
from recoverable.circuits._pause import PauseStore

if TYPE_CHECKING:
    from recoverable.circuits._pause import Mark
    from recoverable.circuits._probe import Report


class Shop:
    """A queue with its function, whose trigger is paused while its rate is limited.

    Args:
        account: where it is deployed.
    """

    def __init__(self, account: Account) -> None:
        name = f"orders-{uuid4().hex[:12]}"
        self.account, self.clock = account, Clock()
        self._sqs, self._lambda = account.client("sqs"), account.client("lambda")
        self.url: str = self._sqs.create_queue(QueueName=name)["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])
        self.arn: str = arn["Attributes"]["QueueArn"]
        self.mapping: str = self._function_and_mapping(name)
        self.circuit = account.circuit(name)
        self.store = PauseStore(
            self.circuit, queue_arn=self.arn, function=name, dynamodb=account.client("dynamodb"), lambda_=self._lambda
        )
        self.pause = PauseTrigger(self.circuit, queue_arn=self.arn, function=name, store=self.store, clock=self.clock)

    def _function_and_mapping(self, name: str) -> str:
        self._lambda.create_function(
            FunctionName=name,
            Runtime="python3.11",
            Role=role(self.account),
            Handler="nothing.handler",
            Code={"ZipFile": nothing()},
        )
        made = self._lambda.create_event_source_mapping(FunctionName=name, EventSourceArn=self.arn, BatchSize=10)
        return str(made["UUID"])

    def alias(self, name: str) -> str:
        """Make an alias of the function with a mapping of its own, and return that mapping's id."""
        aws, function = self._lambda, self.arn.rpartition(":")[2]
        version = aws.publish_version(FunctionName=function)["Version"]
        aws.create_alias(FunctionName=function, Name=name, FunctionVersion=version)
        made = aws.create_event_source_mapping(FunctionName=f"{function}:{name}", EventSourceArn=self.arn, BatchSize=10)
        return str(made["UUID"])

    def instance(self, **settings: Any) -> Instance:
        """Return an instance of the function."""
        settings = {"on_started": self.pause.start, "on_ended": self.pause.stop, **settings}
        return Instance(RateLimit(2, store=self.circuit, **settings), self.clock)

    def operator(self, *, enables: bool) -> None:
        """Do what an operator does in the console."""
        self._lambda.update_event_source_mapping(UUID=self.mapping, Enabled=enables)

    def send(self, body: str) -> None:
        """Send a message with attributes."""
        kind = {"DataType": "String", "StringValue": "web"}
        raw = {"DataType": "Binary", "BinaryValue": b"\x00\xff"}
        self._sqs.send_message(QueueUrl=self.url, MessageBody=body, MessageAttributes={"kind": kind, "raw": raw})

    @property
    def depth(self) -> tuple[int, int]:
        """Return how many messages wait, and how many are in flight."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)["Attributes"]
        return int(found[names[0]]), int(found[names[1]])

    @property
    def state(self) -> str:
        """Return the mapping's state."""
        return str(self._lambda.get_event_source_mapping(UUID=self.mapping)["State"])

    @property
    def mark(self) -> Mark | None:
        """Return the mark that we paused it."""
        return self.store.read_mark()


class Endpoint:
    """The function's own code in the probe's process: like an endpoint with a rate limit, it defers by redelivering.

    Args:
        shop: whose.
    """

    def __init__(self, shop: Shop) -> None:
        self._instance = shop.instance()
        self.breaker = self._instance.breaker
        self.error: BaseException | None = None
        self.records = list[dict[str, Any]]()

    def __call__(self, event: dict[str, Any], _context: object) -> dict[str, Any]:
        """Attempt the one record."""
        json.dumps(event)  # as an event is
        [record] = event["Records"]
        self.records.append(record)
        outcome = self._instance.attempt(self.error, of=delivery(id=record["messageId"]))
        done = outcome == "attempted" and self.error is None
        return {"batchItemFailures": [] if done else [{"itemIdentifier": record["messageId"]}]}


def limited(shop: Shop) -> Instance:
    """Return an instance whose failures started the rate limit some time ago."""
    instance = shop.instance()
    instance.fail(2)
    shop.clock.advance(seconds(60))
    return instance


def probed(shop: Shop, endpoint: Endpoint, *, failing: bool = False) -> Report:
    """Run the probe, and return its report."""
    endpoint.error = Boom("still down") if failing else None
    return Probe(endpoint, shop.pause, SqsProbeQueue(shop.arn, client=shop.account.client("sqs")))({}, None)


@cache
def role(account: Account) -> str:
    """Create a role for functions that never run, and return its ARN."""
    made = account.client("iam").create_role(RoleName=f"role-{uuid4().hex[:12]}", AssumeRolePolicyDocument="{}")
    return str(made["Role"]["Arn"])


@cache
def nothing() -> bytes:
    """Return a function that does nothing, zipped."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("nothing.py", "def handler(event, context): return {'batchItemFailures': []}")
    return archive.getvalue()
