"""Call DynamoDB for one table: in pages and batches, with the repetitions that DynamoDB asks for, and its errors as the port's."""

from __future__ import annotations

import os
import time

from recoverable._sqs.answers import CONDITION_FAILED, code_of
from recoverable.timeouts._stores.dynamodb.errors import ConditionFailed, unavailable
from recoverable.timeouts._stores.rows import StoreUnavailable

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mypy_boto3_dynamodb import DynamoDBClient

    from recoverable.timeouts._stores.dynamodb.keys import Item

TRIES = 6
"""How often the unprocessed part of a batch is requested again, after 0.05 s, 0.1 s and so on: 1.6 s in all."""

CONFLICT = "TransactionConflictException"
"""The code of a write that conflicts with a transaction. A transaction that conflicts with another is cancelled."""

CONFLICTS = 10
"""How often such a write, or transaction, is tried: 2 s or so in all."""

PAUSE = 0.02
"""Seconds of the longest first pause before such a repetition: a transaction takes about as long."""


class Calls:
    """The calls for one table.

    Args:
        client: gives a boto3 DynamoDB client.
        name: the table's name or ARN.
        sleep: waits for so many seconds.
    """

    __slots__ = ("_sleep", "client", "name")

    def __init__(
        self, client: Callable[[], DynamoDBClient], name: str, *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.client, self._sleep, self.name = client, sleep, name

    def call(self, operation: str, **request: Any) -> Any:
        """Make a call for the table.

        Raises:
            ConditionFailed: the condition of a write does not hold.
            StoreUnavailable: the call failed, or its result is not known.
        """
        return self._request(operation, TableName=self.name, **request)

    def call_retrying_conflicts(self, operation: str, **request: Any) -> Any:
        """Make a call for the table, and repeat it while it conflicts with a transaction."""
        for tried in range(CONFLICTS):
            try:
                return self.call(operation, **request)
            except StoreUnavailable as error:
                if code_of(error.__cause__) != CONFLICT:
                    raise
            self._pause(tried)
        raise StoreUnavailable("DynamoDB: a write conflicted with transactions again and again")

    def transact(self, actions: list[Any]) -> bool:
        """Do all actions or none. True if all conditions held."""
        for tried in range(CONFLICTS):
            reasons = self._transact_once(actions)
            if reasons <= {"ConditionalCheckFailed"}:
                return not reasons
            self._pause(tried)
        raise StoreUnavailable(f"DynamoDB: a transaction was cancelled again and again: {', '.join(sorted(reasons))}")

    def pages(self, operation: str, **request: Any) -> Iterator[list[Item]]:
        """Yield the items of a query or scan, page by page; each page is requested when it is needed."""
        while True:
            answer = self.call(operation, **request)
            if answer.get("Items"):
                yield answer["Items"]
            if not answer.get("LastEvaluatedKey"):
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def batch(self, operation: str, wanted: Any, unprocessed: str) -> Iterator[Any]:
        """Yield the answers to a batch, and ask again while some of it is unprocessed.

        Args:
            operation: the client's method.
            wanted: the request for the table.
            unprocessed: the field of an answer that holds what was not done.
        """
        for tried in range(TRIES):
            answer = self._request(operation, RequestItems={self.name: wanted})
            yield answer
            if not answer.get(unprocessed):
                return
            [wanted] = answer[unprocessed].values()
            self._sleep(0.05 * 2**tried)
        raise StoreUnavailable("DynamoDB: a part of a batch was not processed, for there is too much to do")

    def _request(self, operation: str, **request: Any) -> Any:
        try:
            return getattr(self.client(), operation)(**request)
        except Exception as error:
            if code_of(error) == CONDITION_FAILED:
                raise ConditionFailed from None
            raise unavailable(error) from error

    def _transact_once(self, actions: list[Any]) -> set[str]:
        """Try the transaction. Return the reasons why it was cancelled; none when it is done."""
        try:
            self.client().transact_write_items(TransactItems=actions)
        except Exception as error:
            given = getattr(error, "response", {}).get("CancellationReasons") or ()
            if reasons := {reason.get("Code") or "None" for reason in given} - {"None"}:
                return reasons
            raise unavailable(error) from error
        return set()

    def _pause(self, tried: int) -> None:
        """Let others go first: sleep for a random time, at first up to 0.02 s, then up to twice as long each time, at most 0.64 s."""
        self._sleep(PAUSE * 2 ** min(tried, 5) * os.urandom(1)[0] / 255)
