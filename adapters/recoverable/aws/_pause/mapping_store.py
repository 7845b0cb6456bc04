"""Read and change the event source mapping in AWS, and the mark that it was us who disabled it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from recoverable._frozen import Frozen
from recoverable._sqs.answers import CONDITION_FAILED, code_of
from recoverable._sqs.clients import client as process_client
from recoverable._sqs.queues import queue_from_arn
from recoverable.headers import write_date

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient

    from recoverable.aws._pause.circuit_store import DynamoDbCircuit

T = TypeVar("T")
Mark: TypeAlias = str

PAUSED_AT = "paused_at"
TIMEOUT = 1.0
"""Seconds for one call: a pause makes four, mostly within the 3 s that an invocation keeps for settling."""


class Mapping(Frozen):
    """An event source mapping.

    Args:
        uuid: its id.
        state: Enabled, Disabling, ... in Lambda's words (GetEventSourceMapping, `State`).
    """

    uuid: str
    state: str


class NotNow(Exception):
    """Raised when AWS did not do what was asked: busy with the mapping, throttled, unreachable, or not allowed."""


NotNow.__module__ = "recoverable.aws.pause_store"  # the name under which it has always been logged


class PauseStore:
    """The part of AWS that pausing needs.

    Args:
        circuit: the circuit; its table holds the mark.
        queue_arn: the ARN of the queue.
        function: the function's name.
        dynamodb: a boto3 client, instead of one of our own.
        lambda_: the same for Lambda.
    """

    def __init__(
        self,
        circuit: DynamoDbCircuit,
        *,
        queue_arn: str,
        function: str,
        dynamodb: DynamoDBClient | None = None,
        lambda_: LambdaClient | None = None,
    ) -> None:
        self._table, self._key = circuit.table, {"circuit": {"S": f"{circuit.name} (paused)"}}
        self.queue_arn, self._function = queue_arn, function
        self._clients: dict[str, Any] = {"dynamodb": dynamodb, "lambda": lambda_}

    def read_mark(self) -> Mark | None:
        """Return the mark that we paused the trigger; None when there is none."""
        dynamodb: DynamoDBClient = self._client("dynamodb")
        key: Any = self._key
        answer = call_aws(lambda: dynamodb.get_item(TableName=self._table, Key=key, ConsistentRead=True))
        item = answer.get("Item")
        return None if item is None else str(item.get(PAUSED_AT, {}).get("S", ""))

    def set_mark(self, now: datetime) -> None:
        """Set the mark that we paused the trigger."""
        dynamodb: DynamoDBClient = self._client("dynamodb")
        item: Any = {**self._key, PAUSED_AT: {"S": write_date(now)}}
        call_aws(lambda: dynamodb.put_item(TableName=self._table, Item=item))

    def remove_mark(self, mark: Mark) -> None:
        """Remove the mark if it is still the one that was read: another pause may have started."""
        dynamodb: DynamoDBClient = self._client("dynamodb")
        values: Any = {":seen": {"S": mark}}
        key: Any = self._key
        call_aws(
            lambda: dynamodb.delete_item(
                TableName=self._table,
                Key=key,
                ConditionExpression=f"{PAUSED_AT} = :seen",
                ExpressionAttributeValues=values,
            ),
            unless=CONDITION_FAILED,
        )

    def read_mapping(self) -> Mapping:
        """Return the event source mapping from the queue to the function."""
        aws: LambdaClient = self._client("lambda")
        name, queue = self._function, self.queue_arn
        answer = call_aws(lambda: aws.list_event_source_mappings(FunctionName=name, EventSourceArn=queue))
        for mapping in answer["EventSourceMappings"]:
            return Mapping(mapping["UUID"], mapping["State"])
        raise NotNow(f"no event source mapping brings {queue} to {name}")

    def enable(self, mapping: Mapping) -> None:
        """Enable the mapping: it delivers."""
        self._set_enabled(mapping, enabled=True)

    def disable(self, mapping: Mapping) -> None:
        """Disable the mapping: it delivers nothing more, but for what it has received already."""
        self._set_enabled(mapping, enabled=False)

    def _set_enabled(self, mapping: Mapping, *, enabled: bool) -> None:
        aws: LambdaClient = self._client("lambda")
        call_aws(lambda: aws.update_event_source_mapping(UUID=mapping.uuid, Enabled=enabled))

    def _client(self, service: str) -> Any:
        return self._clients[service] or call_aws(
            lambda: process_client(service, queue_from_arn(self.queue_arn).region, TIMEOUT)
        )


def call_aws(call: Callable[[], T], *, unless: str | None = None) -> T:
    """Make one call and return its answer.

    Args:
        call: makes it.
        unless: the code of an error that means that there is nothing to do.

    Raises:
        NotNow: AWS gave another error, or no answer.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return call()
    except ClientError as error:
        if code_of(error) == unless:
            nothing: Any = error.response
            unchanged: T = nothing
            return unchanged
        raise NotNow(str(error)) from error
    except BotoCoreError as error:
        raise NotNow(type(error).__name__) from error
